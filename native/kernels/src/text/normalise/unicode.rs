//! The tables of Unicode 13.0 (written by `tools/native_tables.py`).

use std::sync::OnceLock;

use super::by_code_point::ByCodePoint;
use super::compositions::Compositions;

const DATA: &str = include_str!("unicode13.txt");

pub struct Unicode {
    /// The first and the last of each run of code points that are not assigned.
    pub unassigned: Vec<(u32, u32)>,
    pub white_space: Vec<(u32, u32)>,
    /// The code points that normalisation may change, move or compose, but for Hangul.
    pub special: Vec<u32>,
    pub compositions: Compositions,
    properties: ByCodePoint<Properties>,
    /// Where decompositions and foldings are.
    points: Vec<u32>,
}

/// What a code point has; spans of no code points stand for itself.
#[derive(Clone, Copy, Default, PartialEq)]
struct Properties {
    class: u8,
    decomposition: Span,
    folding: Span,
}

#[derive(Clone, Copy, Default, PartialEq)]
struct Span {
    start: u16,
    length: u16,
}

impl Unicode {
    /// Return the tables, which are read when they are first asked for.
    pub fn get() -> &'static Self {
        static UNICODE: OnceLock<Unicode> = OnceLock::new();
        UNICODE.get_or_init(Self::read)
    }

    /// The combining class.
    #[inline(always)]
    pub fn class(&self, point: u32) -> u8 {
        self.properties.get(point).class
    }

    /// The full compatibility decomposition, or nothing if there is none or it is computed (Hangul syllables).
    #[inline(always)]
    pub fn decomposition(&self, point: u32) -> &[u32] {
        self.span(self.properties.get(point).decomposition)
    }

    /// The full case folding, or nothing if there is none.
    #[inline(always)]
    pub fn folding(&self, point: u32) -> &[u32] {
        self.span(self.properties.get(point).folding)
    }

    fn span(&self, span: Span) -> &[u32] {
        &self.points[usize::from(span.start)..][..usize::from(span.length)]
    }

    fn read() -> Self {
        let mut unicode = Self {
            unassigned: Vec::new(),
            white_space: Vec::new(),
            special: Vec::new(),
            compositions: Compositions::default(),
            properties: ByCodePoint::new(&[Properties::default()]),
            points: Vec::new(),
        };
        let mut section = "";
        for line in DATA.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            match line.strip_prefix('[') {
                Some(name) => section = name,
                None => unicode.read_line(section, line),
            }
        }
        unicode.special.sort_unstable();
        unicode.special.dedup();
        unicode
    }

    fn read_line(&mut self, section: &str, line: &str) {
        match section {
            "unassigned]" => self.unassigned.extend(line.split(' ').map(range)),
            "white space]" => self.white_space.extend(line.split(' ').map(range)),
            _ => {
                let (first, values) = line.split_once(' ').unwrap_or_default();
                for (point, value) in (number(first)..).zip(values.split(' ')) {
                    self.read_value(section, point, value);
                }
            }
        }
    }

    fn read_value(&mut self, section: &str, point: u32, value: &str) {
        let mut properties = self.properties.get(point);
        let start = self.points.len();
        self.points.extend(value.split('+').map(number));
        let values = &self.points[start..];
        let span = Span { start: start as u16, length: values.len() as u16 };
        match (section, values) {
            ("classes]", &[class]) => properties.class = class as u8,
            ("decompositions]", _) => properties.decomposition = span,
            ("foldings]", _) => properties.folding = span,
            ("compositions]", &[first, second]) => {
                self.compositions.insert(first, second, point);
                self.special.push(second);
            }
            _ => {}
        }
        if matches!(section, "classes]" | "compositions]") {
            self.points.truncate(start);
        }
        self.properties.set(point, properties);
        self.special.push(point);
    }
}

fn range(bounds: &str) -> (u32, u32) {
    let (first, last) = bounds.split_once('-').unwrap_or_default();
    (number(first), number(last))
}

/// Read a number of our own data.
fn number(digits: &str) -> u32 {
    u32::from_str_radix(digits, 16).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_are_those_of_unicode_13() {
        let unicode = Unicode::get();
        assert_eq!([0x301, 0x345, 0x94D, 0x1D165, 0x41].map(|p| unicode.class(p)), [230, 240, 9, 216, 0]);
        assert_eq!(unicode.decomposition(0xFDFA).len(), 18);
        assert_eq!(unicode.decomposition(0x1EA4), [0x41, 0x302, 0x301]);
        assert_eq!(unicode.folding(0xDF), [0x73, 0x73]);
        assert_eq!(unicode.folding(0x61), []);
        assert_eq!(unicode.white_space.iter().map(|(first, last)| last - first + 1).sum::<u32>(), 29);
        assert_eq!(unicode.unassigned.len(), 677);
        assert!(unicode.points.len() <= usize::from(u16::MAX));
    }
}
