//! The keys of blocks of a SimHash (defined in `es_simhash.sketches.blocks`).

use super::digits::append_base64url;

/// Up to this many blocks have keys, and none has more than 64 bits.
pub const MAX_KEYED_BLOCKS: u32 = 36;
const MAX_BLOCK_BITS: u32 = 64;
const POSITIONS: &[u8; MAX_KEYED_BLOCKS as usize] = b"0123456789abcdefghijklmnopqrstuvwxyz";

pub struct Blocks {
    pub bits: u32,
    pub count: u32,
}

impl Blocks {
    /// Whether `append_keys` can write keys of such blocks.
    pub fn have_keys(&self) -> bool {
        (1..=128).contains(&self.bits)
            && (1..=MAX_KEYED_BLOCKS.min(self.bits)).contains(&self.count)
            && self.bits.div_ceil(self.count) <= MAX_BLOCK_BITS
    }

    pub fn key_digits(&self) -> usize {
        1 + self.value_digits() as usize
    }

    fn value_digits(&self) -> u32 {
        self.bits.div_ceil(self.count).div_ceil(6)
    }

    /// Append the keys of a code, with spaces between them.
    pub fn append_keys(&self, code: u128, target: &mut Vec<u8>) {
        let (width, wider) = (self.bits / self.count, self.bits % self.count);
        let digits = self.value_digits();
        let mut after = self.bits;
        for i in 0..self.count {
            let width = width + u32::from(i < wider);
            after -= width;
            let value = (code >> after) as u64 & (u64::MAX >> (64 - width));
            if i > 0 {
                target.push(b' ');
            }
            target.push(POSITIONS[i as usize]);
            append_base64url(value, digits, target);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_the_position_and_the_value_of_a_block() {
        let mut target = Vec::new();
        Blocks { bits: 14, count: 3 }.append_keys(0b10_0000_0011_1111, &mut target);
        assert_eq!(target, b"0Q 1D 2P");
    }
}
