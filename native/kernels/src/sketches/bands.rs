//! The keys of bands of a signature (defined in `es_simhash.sketches.keys`).

use super::MAX_SIZE;
use super::digits::{append_base64url, read_base64url};
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

    /// How many of the lowest bits of each row a key holds.
    pub fn value_bits(&self) -> u32 {
        32.min(self.key_bits as usize / self.rows) as u32
    }

    /// Append the keys of a signature, with spaces between them.
    pub fn append_keys(&self, signature: &[u32], target: &mut Vec<u8>) {
        let value_bits = self.value_bits();
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

    /// Append the low bits of the rows that `append_keys` wrote as these keys, and return whether it can have.
    pub fn read_keys(&self, keys: &[u8], target: &mut Vec<u32>) -> bool {
        let (digits, value_bits) = (self.key_digits(), self.value_bits());
        if keys.len() != self.count * (digits + 1) - 1 {
            return false;
        }
        let step = BASE >> (64 - self.key_bits);
        let mut shift = 0_u64;
        for key in keys.chunks(digits + 1) {
            let (key, space) = key.split_at(digits);
            let Some(number) = read_base64url(key).filter(|_| matches!(space, [] | [b' '])) else { return false };
            shift = shift.wrapping_add(step);
            let packed = number.wrapping_sub(shift) & ((1 << self.key_bits) - 1);
            let rows = (0..self.rows as u32).rev();
            target.extend(rows.map(|row| (packed >> (row * value_bits)) as u32 & (u32::MAX >> (32 - value_bits))));
        }
        true
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
        let (bands, mut read) = (Bands { count: 2, rows: 2, key_bits: 12 }, Vec::new());
        assert!(bands.read_keys(b"ol PH", &mut read));
        assert_eq!(read, [1, 2, 0, 1]);
        for keys in ["ol", "ol PH ", "olxPH", "ol P ", "ol PH mn", "o  PH"] {
            assert!(!bands.read_keys(keys.as_bytes(), &mut read), "{keys}");
        }
    }
}
