//! The keys of bands of a signature (defined in `es_simhash.sketches.bands`).

use super::MAX_SIZE;
use super::digits::append_base64url;
use crate::text::hashing::poly64::BASE;

const DIGIT_BITS: u32 = 6;

pub struct Bands {
    pub count: usize,
    pub rows: usize,
    pub key_bits: u32,
}

impl Bands {
    /// Whether `append_keys` can write keys of such bands.
    pub fn have_keys(&self) -> bool {
        (DIGIT_BITS..=60).contains(&self.key_bits)
            && self.key_bits.is_multiple_of(DIGIT_BITS)
            && (1..=self.key_bits as usize).contains(&self.rows)
            && (1..=MAX_SIZE).contains(&self.count)
    }

    pub fn key_digits(&self) -> usize {
        (self.key_bits / DIGIT_BITS) as usize
    }

    /// Append the keys of a signature, with spaces between them.
    pub fn append_keys(&self, signature: &[u32], target: &mut Vec<u8>) {
        let value_bits = 32.min(self.key_bits as usize / self.rows) as u32;
        let kept = (1 << value_bits) - 1;
        let step = BASE >> (64 - self.key_bits);
        let mut shift = 0_u64;
        for (i, rows) in signature.chunks_exact(self.rows).take(self.count).enumerate() {
            shift = shift.wrapping_add(step);
            let packed = rows.iter().fold(0, |packed, &row| packed << value_bits | u64::from(row) & kept);
            if i > 0 {
                target.push(b' ');
            }
            append_base64url(packed.wrapping_add(shift), self.key_bits / DIGIT_BITS, target);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_holds_the_low_bits_of_its_rows() {
        let mut target = Vec::new();
        Bands { count: 2, rows: 2, key_bits: 12 }.append_keys(&[1, 2, 64, 65, 9], &mut target);
        // 12 bits of BASE are 0x9E3: 0x042 + 0x9E3 = 0xA25, and 0x001 + 2 * 0x9E3 = 0x3C7 in 12 bits.
        assert_eq!(target, b"ol PH");
    }
}
