//! Numbers written as texts of a fixed number of digits (see `es_simhash._core.digits`).

const HEX: &[u8; 16] = b"0123456789abcdef";
const BASE64URL: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Append the last `digits` digits of a number, 6 bits each, most significant first.
#[inline]
pub fn append_base64url(number: u64, digits: u32, target: &mut Vec<u8>) {
    target.extend((0..digits).rev().map(|digit| BASE64URL[(number >> (6 * digit) & 63) as usize]));
}

/// Append the last `digits` hexadecimal digits of a number, most significant first.
pub fn append_hex(number: u128, digits: u32, target: &mut Vec<u8>) {
    target.extend((0..digits).rev().map(|digit| HEX[(number >> (4 * digit) & 15) as usize]));
}

/// Append bytes in base64url without padding (RFC 4648, section 5).
pub fn append_bytes(bytes: &[u8], target: &mut Vec<u8>) {
    for group in bytes.chunks(3) {
        let mut number = 0;
        for i in 0..3 {
            number = number << 8 | u64::from(group.get(i).copied().unwrap_or(0));
        }
        let kept = target.len() + group.len() + 1;
        append_base64url(number, 4, target);
        target.truncate(kept);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_written_as_the_standard_says() {
        for (bytes, text) in [("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg")] {
            let mut target = Vec::new();
            append_bytes(bytes.as_bytes(), &mut target);
            assert_eq!(target, text.as_bytes());
        }
        let mut target = Vec::new();
        append_bytes(&[0xFB, 0xFF], &mut target);
        assert_eq!(target, b"-_8");
    }
}
