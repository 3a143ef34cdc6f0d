//! UTF-16 units as code points, and as UTF-8.

use crate::stop;

/// The code points of well-formed UTF-16, with the positions at which they begin.
pub fn points(units: &[u16]) -> impl Iterator<Item = (usize, u32)> {
    let (mut i, mut looks) = (0, stop::Looks::after(0));
    std::iter::from_fn(move || {
        let start = i;
        looks.at(start);
        let unit = u32::from(*units.get(start)?);
        let is_pair = (0xD800..0xDC00).contains(&unit);
        let low = if is_pair { units.get(start + 1).copied() } else { None };
        i += 1 + usize::from(low.is_some());
        Some((start, low.map_or(unit, |low| 0x1_0000 + ((unit & 0x3FF) << 10 | u32::from(low & 0x3FF)))))
    })
}

/// UTF-8, and where in it each character of the UTF-16 begins that it was made of.
#[derive(Default)]
pub struct Utf8 {
    pub bytes: Vec<u8>,
    starts: Vec<usize>,
}

impl Utf8 {
    pub fn encode(&mut self, units: &[u16]) {
        self.bytes.clear();
        self.starts.clear();
        if units.iter().all(|&unit| unit < 0x80) {
            stop::extend(&mut self.bytes, units.iter().map(|&unit| unit as u8));
            stop::extend(&mut self.starts, 0..units.len() + 1);
            return;
        }
        for (start, point) in points(units) {
            self.starts.resize(start + 1, self.bytes.len());
            let character = char::from_u32(point).unwrap_or(char::REPLACEMENT_CHARACTER);
            self.bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        }
        self.starts.resize(units.len() + 1, self.bytes.len());
    }

    /// The bytes of the units from `start` up to `end`.
    pub fn span(&self, start: usize, end: usize) -> &[u8] {
        &self.bytes[self.starts[start]..self.starts[end]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "aé漢😀b\u{10FFFF}";

    #[test]
    fn pairs_are_one_code_point() {
        let units: Vec<u16> = TEXT.encode_utf16().collect();
        let expected: Vec<(usize, u32)> = [0, 1, 2, 3, 5, 6].into_iter().zip(TEXT.chars().map(u32::from)).collect();
        assert_eq!(points(&units).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn spans_of_utf_8_are_those_of_the_units() {
        let mut utf8 = Utf8::default();
        for text in ["plain", TEXT, ""] {
            let units: Vec<u16> = text.encode_utf16().collect();
            utf8.encode(&units);
            assert_eq!(utf8.span(0, units.len()), text.as_bytes());
        }
        utf8.encode(&TEXT.encode_utf16().collect::<Vec<_>>());
        assert_eq!(utf8.span(1, 3), "é漢".as_bytes());
        assert_eq!(utf8.span(3, 6), "😀b".as_bytes());
    }
}
