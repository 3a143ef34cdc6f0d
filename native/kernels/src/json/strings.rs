//! Strings of JSON: where they end, and what they say.

use std::borrow::Cow;

use crate::for_each_cpu;
use crate::stop::Looks;
use crate::text::Refused;

/// Strings are mostly names, which are short: so many words are looked at before blocks.
const SHORT: usize = 4;
const WORD: usize = 8;
const BLOCK: usize = 64;
/// A one, and the highest bit, of each byte of a word.
const ONES: u64 = u64::MAX / 0xFF;
const HIGHEST: u64 = ONES << 7;

/// Return where the string ends whose opening quote is at `start`: behind its closing quote.
pub fn end_of_string(json: &[u8], start: usize) -> Result<usize, Refused> {
    let mut at = start + 1;
    let mut looks = Looks::after(at);
    loop {
        at += plain_length(&json[at..]);
        match json.get(at) {
            Some(b'"') => return Ok(at + 1),
            Some(b'\\') => {
                at += escape(&json[at..])?.1;
                looks.at(at);
            }
            _ => return Err(Refused),
        }
    }
}

/// Return the text of a string that was found to be one, given without its quotes, as UTF-8.
pub fn unescaped(inner: &[u8]) -> Result<Cow<'_, [u8]>, Refused> {
    let mut at = plain_length(inner);
    if at == inner.len() {
        return Ok(Cow::Borrowed(inner));
    }
    let mut text = inner[..at].to_vec();
    let mut looks = Looks::after(at);
    while at < inner.len() {
        looks.at(at);
        let (character, length) = escape(&inner[at..])?;
        text.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        at += length;
        let plain = plain_length(&inner[at..]);
        text.extend_from_slice(&inner[at..at + plain]);
        at += plain;
    }
    Ok(Cow::Owned(text))
}

/// How many bytes come before a quote, a backslash or a control character.
#[inline(always)]
pub(super) fn plain_length(bytes: &[u8]) -> usize {
    let (words, _) = bytes.as_chunks::<WORD>();
    for (place, word) in words.iter().take(SHORT).enumerate() {
        let special = special_bytes(u64::from_le_bytes(*word));
        if special != 0 {
            return place * WORD + special.trailing_zeros() as usize / 8;
        }
    }
    let done = words.len().min(SHORT) * WORD;
    done + long_plain_length(&bytes[done..])
}

/// Return a word whose lowest bit that is set lies in the first special byte of this one (Warren, Hacker's Delight, 6-1).
#[inline(always)]
fn special_bytes(word: u64) -> u64 {
    let is_below = |word: u64, least: u8| word.wrapping_sub(ONES * u64::from(least)) & !word & HIGHEST;
    let is = |byte: u8| is_below(word ^ (ONES * u64::from(byte)), 1);
    is(b'"') | is(b'\\') | is_below(word, b' ')
}

for_each_cpu! {
    fn long_plain_length(bytes: &[u8]) -> usize {
        let (blocks, _) = bytes.as_chunks::<BLOCK>();
        let plain = blocks.iter().take_while(|block| !block.iter().fold(false, |any, &byte| any | is_special(byte)));
        let at = plain.count() * BLOCK;
        bytes[at..].iter().position(|&byte| is_special(byte)).map_or(bytes.len(), |place| at + place)
    }
}

#[inline(always)]
fn is_special(byte: u8) -> bool {
    byte < b' ' || byte == b'"' || byte == b'\\'
}

/// Return the character that the escape at the beginning stands for, and the length of the escape.
fn escape(bytes: &[u8]) -> Result<(char, usize), Refused> {
    let character = match bytes.get(1) {
        Some(b'u') => return unicode_escape(bytes),
        Some(&byte @ (b'"' | b'\\' | b'/')) => char::from(byte),
        Some(b'b') => '\x08',
        Some(b'f') => '\x0C',
        Some(b'n') => '\n',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        _ => return Err(Refused),
    };
    Ok((character, 2))
}

/// The same for `\uXXXX`, of which two stand for a character beyond U+FFFF.
fn unicode_escape(bytes: &[u8]) -> Result<(char, usize), Refused> {
    let first = hexadecimal(bytes)?;
    if let Some(character) = char::from_u32(first) {
        return Ok((character, 6));
    }
    let second = hexadecimal(&bytes[6..])?;
    if first >= 0xDC00 || !(0xDC00..0xE000).contains(&second) {
        return Err(Refused);
    }
    char::from_u32(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00))
        .map(|character| (character, 12))
        .ok_or(Refused)
}

fn hexadecimal(bytes: &[u8]) -> Result<u32, Refused> {
    let Some([b'\\', b'u', digits @ ..]) = bytes.get(..6) else { return Err(Refused) };
    digits.iter().try_fold(0, |value, &digit| Ok(value << 4 | char::from(digit).to_digit(16).ok_or(Refused)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_string_ends_at_its_closing_quote_wherever_that_is() {
        for length in 0..300 {
            let json = format!("\"{}\" \"", "x".repeat(length));
            assert_eq!(end_of_string(json.as_bytes(), 0), Ok(length + 2));
            let json = format!("\"{}\\\"\"", "é".repeat(length));
            assert_eq!(end_of_string(json.as_bytes(), 0), Ok(2 * length + 4));
            let json = format!("\"{}\n\"", "x".repeat(length));
            assert_eq!(end_of_string(json.as_bytes(), 0), Err(Refused));
            assert_eq!(end_of_string(format!("\"{}", "x".repeat(length)).as_bytes(), 0), Err(Refused));
        }
    }

    #[test]
    fn escapes_are_the_characters_that_they_stand_for() {
        let inner = br#"a\"\\\/\b\f\n\r\t\u00e9\u4E2D\ud83D\uDE00\u0000z"#;
        assert_eq!(unescaped(inner).unwrap().as_ref(), "a\"\\/\x08\x0C\n\r\té中😀\0z".as_bytes());
        assert!(matches!(unescaped("plain é".as_bytes()), Ok(Cow::Borrowed(_))));
    }

    #[test]
    fn what_is_no_escape_of_a_character_is_refused() {
        for bad in [r"\x41", r"\u12", r"\u12g4", r"\ud800", r"\udc00\ud800", r"\ud800x", r"\ud800\n", r"\ud800A", "\\"]
        {
            assert_eq!(end_of_string(format!("\"{bad}\"").as_bytes(), 0), Err(Refused), "{bad}");
        }
    }
}
