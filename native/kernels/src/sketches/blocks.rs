//! The keys of blocks of a SimHash (defined in `es_simhash.sketches.keys`).

use super::digits::{append_base64url, read_base64url};

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

    /// Return the code for which `append_keys` writes these keys; none if there is none.
    pub fn read_keys(&self, keys: &[u8]) -> Option<u128> {
        let (width, wider) = (self.bits / self.count, self.bits % self.count);
        let mut code = 0_u128;
        for (i, key) in (0..).zip(keys.chunks(self.key_digits() + 1)) {
            let value = read_base64url(key.get(1..self.key_digits())?)?;
            code = code << (width + u32::from(i < wider)) | u128::from(value);
        }
        // Written again, so that positions, spaces and the widths of values are checked.
        let mut written = Vec::with_capacity(keys.len());
        self.append_keys(code, &mut written);
        (written == keys).then_some(code)
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

    #[test]
    fn a_code_is_read_from_its_keys_alone() {
        let blocks = Blocks { bits: 14, count: 3 };
        assert_eq!(blocks.read_keys(b"0Q 1D 2P"), Some(0b10_0000_0011_1111));
        for keys in ["", "0Q 1D", "0Q 1D 2P 3A", "0Q 1D 2P ", "0Q 1D 2g", "1D 0Q 2P", "0Q_1D_2P", "0Q 1D 2", "0Q 1! 2P"]
        {
            assert_eq!(blocks.read_keys(keys.as_bytes()), None, "{keys}");
        }
        let wide = Blocks { bits: 128, count: 2 };
        let mut target = Vec::new();
        wide.append_keys(u128::MAX - 5, &mut target);
        assert_eq!(wide.read_keys(&target), Some(u128::MAX - 5));
    }
}
