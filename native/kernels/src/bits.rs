//! Flags as the bits of a word.

/// Pack bytes that are 0 or 1.
#[inline(always)]
pub fn bits_of(flags: &[u8; 64]) -> u64 {
    let mut bits = 0;
    for (i, eight) in flags.as_chunks::<8>().0.iter().enumerate() {
        // The factor moves the lowest bit of byte j to bit 56 + j, and no others next to it.
        bits |= (u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * i);
    }
    bits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bit_is_set_where_a_flag_is() {
        for flagged in 0..64 {
            let mut flags = [0; 64];
            [flags[flagged], flags[flagged / 2]] = [1, 1];
            assert_eq!(bits_of(&flags), 1 << flagged | 1 << (flagged / 2));
        }
    }
}
