//! Words as one text with spaces between them.

use super::Words;
use crate::stop;
use crate::text::points::points;
use crate::text::spans::Spans;
use crate::text::{Refused, Text};

/// Return the words of a text with a space between each two; those of more than `longest` characters are cut into such.
pub fn joined(text: Text<'_>, longest: usize) -> Result<String, Refused> {
    let (mut units, mut spans) = (Vec::with_capacity(text.len()), Spans::default());
    text.encode(&mut units)?;
    Words::default().find(&units, &mut spans);
    let mut joined = String::with_capacity(text.len() + 1);
    let mut looks = stop::Looks::after(0);
    for (start, end) in spans.iter() {
        looks.at(start);
        let mut room = longest;
        for (_, point) in points(&units[start..end]) {
            if room == 0 {
                joined.push(' ');
                room = longest;
            }
            joined.push(char::from_u32(point).ok_or(Refused)?);
            room -= 1;
        }
        joined.push(' ');
    }
    joined.pop();
    Ok(joined)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, longest: usize) -> String {
        let points: Vec<u32> = text.chars().map(u32::from).collect();
        let wide = joined(Text::Wide(&points), longest).unwrap();
        if text.is_ascii() {
            assert_eq!(joined(Text::Ascii(text.as_bytes()), longest).unwrap(), wide);
        }
        wide
    }

    #[test]
    fn words_have_one_space_between_them() {
        assert_eq!(of(" Don't,  count 3.14 __ (twice)!", 255), "Don't count 3.14 twice");
        assert_eq!(of("漢字 é", 255), "漢 字 é");
        assert_eq!(of("?!", 255), "");
    }

    #[test]
    fn long_words_are_cut() {
        assert_eq!(of("abcdefg hij", 3), "abc def g hij");
        assert_eq!(of("𝒳𝒳𝒳", 2), "𝒳𝒳 𝒳");
    }

    #[test]
    fn a_lone_surrogate_is_refused() {
        assert_eq!(joined(Text::Wide(&[0x61, 0xD800]), 255), Err(Refused));
    }
}
