//! Signatures as text (defined in `es_simhash.sketches.minhash.common`).

use super::MAX_SIZE;
use super::digits::{append_bytes, read_bytes};

pub struct SignatureCodec {
    pub size: usize,
    /// How many bits of each value are kept, from the lowest on.
    pub value_bits: u32,
}

impl SignatureCodec {
    pub fn has_text(&self) -> bool {
        (1..=MAX_SIZE).contains(&self.size) && (1..=32).contains(&self.value_bits)
    }

    pub fn text_length(&self) -> usize {
        ((self.size * self.value_bits as usize).div_ceil(8) * 4).div_ceil(3)
    }

    /// Append the text of a signature; `bytes` is memory to work in.
    pub fn append_text(&self, signature: &[u32], bytes: &mut Vec<u8>, target: &mut Vec<u8>) {
        bytes.clear();
        let (mut waiting, mut count) = (0_u64, 0);
        for &value in signature {
            waiting |= (u64::from(value) & ((1 << self.value_bits) - 1)) << count;
            count += self.value_bits;
            while count >= 8 {
                bytes.push(waiting as u8);
                waiting >>= 8;
                count -= 8;
            }
        }
        if count > 0 {
            bytes.push(waiting as u8);
        }
        append_bytes(bytes, target);
    }

    /// Append the values that `append_text` wrote as this text, and return whether it can have.
    pub fn read_text(&self, text: &[u8], bytes: &mut Vec<u8>, target: &mut Vec<u32>) -> bool {
        bytes.clear();
        if text.len() != self.text_length() || !read_bytes(text, bytes) {
            return false;
        }
        let (mut waiting, mut count) = (0_u64, 0);
        let mut left = bytes.iter();
        for _ in 0..self.size {
            while count < self.value_bits {
                waiting |= u64::from(left.next().copied().unwrap_or(0)) << count;
                count += 8;
            }
            target.push((waiting & ((1 << self.value_bits) - 1)) as u32);
            waiting >>= self.value_bits;
            count -= self.value_bits;
        }
        waiting == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_follow_one_another_without_gaps() {
        let mut target = Vec::new();
        let codec = SignatureCodec { size: 3, value_bits: 12 };
        codec.append_text(&[0xFFABC, 0xDEF, 0x123], &mut Vec::new(), &mut target);
        // The bytes bc fa de 23 01.
        assert_eq!(target, b"vPreIwE");
        assert_eq!(target.len(), codec.text_length());
        let mut read = Vec::new();
        assert!(codec.read_text(b"vPreIwE", &mut Vec::new(), &mut read));
        assert_eq!(read, [0xABC, 0xDEF, 0x123]);
        // The last but one has a bit after the last value.
        for text in ["vPreIw", "vPreIwEA", "vPreIwF", "vPreIxE", "vPreI=E"] {
            assert!(!codec.read_text(text.as_bytes(), &mut Vec::new(), &mut read), "{text}");
        }
    }
}
