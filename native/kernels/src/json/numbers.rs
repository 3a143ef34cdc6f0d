//! Numbers of JSON: which are certainly finite, and how Python writes them.

use crate::text::Refused;

/// Python may be told to refuse integers of more digits than 640, or any higher bound.
const MOST_DIGITS: usize = 600;
/// Before the point, of a number that cannot reach infinity with an exponent of two digits.
const MOST_DIGITS_OF_FLOAT: usize = 200;
const MOST_DIGITS_OF_EXPONENT: usize = 2;
/// So many decimal digits survive as a float.
const SURE_DIGITS: usize = 15;
/// Powers of ten between which Python writes a float without an exponent.
const POSITIONAL: std::ops::Range<i32> = -4..16;

/// Return where the number that begins at `start` ends.
pub fn end_of_number(json: &[u8], start: usize) -> Result<usize, Refused> {
    let mut at = start + usize::from(json[start] == b'-');
    let whole = digits(json, at);
    if whole == 0 || (json[at] == b'0' && whole > 1) {
        return Err(Refused);
    }
    at += whole;
    let (mut is_float, mut exponent) = (false, 0);
    if json.get(at) == Some(&b'.') {
        let fraction = digits(json, at + 1);
        if fraction == 0 {
            return Err(Refused);
        }
        is_float = true;
        at += 1 + fraction;
    }
    if let Some(b'e' | b'E') = json.get(at) {
        at += 1 + usize::from(matches!(json.get(at + 1), Some(b'+' | b'-')));
        exponent = digits(json, at);
        if exponent == 0 {
            return Err(Refused);
        }
        is_float = true;
        at += exponent;
    }
    let most = if is_float { MOST_DIGITS_OF_FLOAT } else { MOST_DIGITS };
    if whole > most || exponent > MOST_DIGITS_OF_EXPONENT { Err(Refused) } else { Ok(at) }
}

fn digits(json: &[u8], at: usize) -> usize {
    json[at..].iter().take_while(|byte| byte.is_ascii_digit()).count()
}

/// Append a number as Python writes the one that it reads from these digits.
pub fn push_number(number: &[u8], out: &mut Vec<u8>) -> Result<(), Refused> {
    if number.iter().any(|byte| matches!(byte, b'.' | b'e' | b'E')) {
        let value: f64 = str::from_utf8(number).map_err(|_| Refused)?.parse().map_err(|_| Refused)?;
        push_float(value, out);
    } else {
        out.extend_from_slice(if number == b"-0" { b"0" } else { number });
    }
    Ok(())
}

/// Append a finite float as `repr` writes it: the fewest digits that are read as the same float.
pub fn push_float(value: f64, out: &mut Vec<u8>) {
    let shortest = shortest(value.abs());
    let (mantissa, exponent) = shortest.split_once('e').unwrap_or((&shortest, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let digits = mantissa.replace('.', "");
    if value.is_sign_negative() {
        out.push(b'-');
    }
    let written = if !POSITIONAL.contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        format!("{mantissa}e{sign}{:02}", exponent.unsigned_abs())
    } else if exponent < 0 {
        format!("0.{}{digits}", "0".repeat(exponent.unsigned_abs() as usize - 1))
    } else {
        let whole = exponent as usize + 1;
        let padded = format!("{digits:0<whole$}");
        let (whole, fraction) = padded.split_at(whole);
        format!("{whole}.{}", if fraction.is_empty() { "0" } else { fraction })
    };
    out.extend_from_slice(written.as_bytes());
}

/// Return the fewest digits, with an exponent; of two numbers that are as near, the even one, as Python does.
fn shortest(value: f64) -> String {
    let found = format!("{value:e}");
    let digits = found.find('e').unwrap_or(0).saturating_sub(1);
    // Two numbers of fewer digits are never read as the same float.
    if digits > SURE_DIGITS {
        let nearest = format!("{value:.*e}", digits - 1);
        if nearest.parse() == Ok(value) {
            return nearest;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_number_is_found() {
        for number in ["0", "-0", "12", "-1.5", "1e5", "1E+05", "0.25e-3", &"9".repeat(600)] {
            assert_eq!(end_of_number(format!("{number},").as_bytes(), 0), Ok(number.len()), "{number}");
        }
    }

    #[test]
    fn what_python_may_refuse_is_refused() {
        let long = "9".repeat(601);
        for bad in ["-", "-x", "01", "1.", "1.e5", "1e", "1e+", "1e400", "-1e309", "1e100", long.as_str()] {
            assert_eq!(end_of_number(format!("{bad} ").as_bytes(), 0), Err(Refused), "{bad}");
        }
    }

    #[test]
    fn numbers_are_written_as_python_writes_them() {
        for (given, expected) in [
            ("-0", "0"),
            ("12345678901234567890123", "12345678901234567890123"),
            ("-0.0", "-0.0"),
            ("1.50", "1.5"),
            ("1e3", "1000.0"),
            ("1e15", "1000000000000000.0"),
            ("1e16", "1e+16"),
            ("123456789012345678.0", "1.2345678901234568e+17"),
            ("562949953421312.25", "562949953421312.2"),
            ("562949953421312.75", "562949953421312.8"),
            ("5.684341886080801486968994140625e-14", "5.684341886080802e-14"),
            ("0.0001", "0.0001"),
            ("0.00001", "1e-05"),
            ("1.25E-7", "1.25e-07"),
        ] {
            let mut out = Vec::new();
            push_number(given.as_bytes(), &mut out).unwrap();
            assert_eq!(String::from_utf8(out).unwrap(), expected);
        }
    }
}
