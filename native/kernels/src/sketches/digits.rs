//! Numbers written as texts of a fixed number of digits (see `es_simhash._core.arrays`).

const HEX: &[u8; 16] = b"0123456789abcdef";
const BASE64URL: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// What no digit has as its value.
const NONE: u8 = u8::MAX;
/// The value of each byte as a digit.
const VALUES: [u8; 256] = values();

const fn values() -> [u8; 256] {
    let mut values = [NONE; 256];
    let mut value = 0;
    while value < BASE64URL.len() {
        values[BASE64URL[value] as usize] = value as u8;
        value += 1;
    }
    values
}

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

/// Read a number of up to ten base64url digits.
#[inline]
pub fn read_base64url(digits: &[u8]) -> Option<u64> {
    let mut is_good = true;
    let number = digits.iter().fold(0, |number, &digit| {
        let value = VALUES[usize::from(digit)];
        is_good &= value != NONE;
        number << 6 | u64::from(value)
    });
    is_good.then_some(number)
}

/// Read a number of at least one hexadecimal digit, in lower case, that fits into `bits` bits.
pub fn read_hex(digits: &[u8], bits: u32) -> Option<u128> {
    let mut number = 0_u128;
    for digit in digits {
        let value = HEX.iter().position(|each| each == digit)?;
        // The next digit must not push out bits.
        number = (number >> 124 == 0).then_some(number << 4 | value as u128)?;
    }
    (!digits.is_empty() && (bits == 128 || number >> bits == 0)).then_some(number)
}

/// Append the bytes that `append_bytes` wrote as this text, and return whether it can have written it.
pub fn read_bytes(text: &[u8], bytes: &mut Vec<u8>) -> bool {
    for digits in text.chunks(4) {
        let missing = 4 - digits.len();
        let Some(number) = read_base64url(digits).map(|number| number << (6 * missing)) else { return false };
        let group = &number.to_be_bytes()[5..];
        let (read, rest) = group.split_at(3 - missing.min(3));
        if missing == 3 || rest.iter().any(|&byte| byte != 0) {
            return false;
        }
        bytes.extend_from_slice(read);
    }
    true
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
            let mut read = Vec::new();
            assert!(read_bytes(text.as_bytes(), &mut read));
            assert_eq!(read, bytes.as_bytes());
        }
        let mut target = Vec::new();
        append_bytes(&[0xFB, 0xFF], &mut target);
        assert_eq!(target, b"-_8");
    }

    #[test]
    fn what_is_not_written_so_is_not_read() {
        for text in ["Z", "Zh", "Zm9", "Zm9vY", "Zg==", "Zm9v ", "Zm+/", "\u{e9}\u{e9}"] {
            assert!(!read_bytes(text.as_bytes(), &mut Vec::new()), "{text}");
        }
        assert_eq!(read_base64url(b"BA"), Some(64));
        assert_eq!(read_base64url(b"B A"), None);
    }

    #[test]
    fn hexadecimal_numbers_fit_into_their_bits() {
        assert_eq!(read_hex(b"00000000000000000000000000000000000ff", 8), Some(255));
        assert_eq!(read_hex(b"100", 8), None);
        assert_eq!(read_hex(&[b'f'; 32], 128), Some(u128::MAX));
        assert_eq!(read_hex(&[b'f'; 33], 128), None);
        for text in ["", "F", "0x1", "1 ", "-1"] {
            assert_eq!(read_hex(text.as_bytes(), 64), None, "{text}");
        }
    }
}
