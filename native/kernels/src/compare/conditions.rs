//! What texts must have in common besides features (defined in `es_simhash.scheme.verdict.conditions`).

use super::digits::is_digit;
use crate::text::normalise::{Steps, normalise};
use crate::text::points::points;
use crate::text::{Refused, Text};
use crate::{for_each_cpu, stop};

const N: usize = 3;
/// Bytes that are looked through for digits at once.
const PART: usize = 1 << 8;

/// The least agreement in each trait; 0 is off.
#[derive(Clone, Copy, Debug, Default)]
pub struct Conditions {
    pub lengths: f64,
    pub numbers: f64,
    pub first_lines: f64,
}

/// What the conditions compare of a text; empty for those that are off.
#[derive(Default)]
pub struct Traits {
    /// In code points.
    length: usize,
    /// Runs of digits, in order, each once.
    numbers: Box<[Box<[u32]>]>,
    /// The n-grams of the first line, in order, each once.
    first_line: Box<[u64]>,
}

impl Conditions {
    pub fn are_set(&self) -> bool {
        self.lengths != 0.0 || self.numbers != 0.0 || self.first_lines != 0.0
    }

    /// The traits of a text.
    pub fn traits(&self, steps: Steps, text: Text<'_>) -> Result<Traits, Refused> {
        let mut traits = Traits::default();
        // Normalisation leaves the digits of ASCII as they are.
        let raw = if let Text::Ascii(bytes) = text { Some(bytes) } else { None };
        if self.lengths != 0.0 || (self.numbers != 0.0 && raw.is_none()) {
            let points = normalised(steps, text)?;
            traits.length = points.len();
            if self.numbers != 0.0 {
                traits.numbers = numbers(&points);
            }
        } else if let Some(bytes) = raw.filter(|_| self.numbers != 0.0) {
            traits.numbers = ascii_numbers(bytes);
        }
        if self.first_lines != 0.0 {
            traits.first_line = first_line(steps, text)?;
        }
        Ok(traits)
    }

    /// Whether two texts meet all conditions that are on.
    pub fn are_met(&self, a: &Traits, b: &Traits) -> bool {
        is_enough(self.lengths, || of_lengths(a.length, b.length))
            && is_enough(self.numbers, || of_numbers(&a.numbers, &b.numbers))
            && is_enough(self.first_lines, || of_first_lines(&a.first_line, &b.first_line))
    }
}

impl Traits {
    /// The bytes that they take.
    pub fn size(&self) -> usize {
        let numbers = self.numbers.iter().map(|number| size_of_val(number) + size_of_val(&**number));
        size_of_val(&*self.first_line) + numbers.sum::<usize>()
    }
}

fn is_enough(least: f64, agreement: impl Fn() -> f64) -> bool {
    least == 0.0 || agreement() >= least
}

fn of_lengths(a: usize, b: usize) -> f64 {
    if a.max(b) == 0 { 1.0 } else { a.min(b) as f64 / a.max(b) as f64 }
}

fn of_numbers(a: &[Box<[u32]>], b: &[Box<[u32]>]) -> f64 {
    match a.len().min(b.len()) {
        0 => 1.0,
        fewer => shared(a, b) as f64 / fewer as f64,
    }
}

fn of_first_lines(a: &[u64], b: &[u64]) -> f64 {
    let shared = shared(a, b);
    shared as f64 / (a.len() + b.len() - shared) as f64
}

/// Count what two lists in order have in common.
fn shared<T: Ord>(a: &[T], b: &[T]) -> usize {
    stop::parts(a).map(|part| part.iter().filter(|item| b.binary_search(item).is_ok()).count()).sum()
}

/// The code points of a normalised text.
fn normalised(steps: Steps, text: Text<'_>) -> Result<Vec<u32>, Refused> {
    let mut units = Vec::new();
    normalise(steps, text, &mut units)?;
    let mut found = Vec::with_capacity(units.len());
    found.extend(points(&units).map(|(_, point)| point));
    Ok(found)
}

fn in_order<T: Ord>(mut items: Vec<T>) -> Box<[T]> {
    stop::sort(&mut items);
    items.dedup();
    items.into()
}

fn numbers(points: &[u32]) -> Box<[Box<[u32]>]> {
    let runs =
        points.chunk_by(|&a, &b| is_digit(a) == is_digit(b)).enumerate().inspect(|&(place, _)| stop::look_at(place));
    in_order(runs.filter(|(_, run)| is_digit(run[0])).map(|(_, run)| Box::from(run)).collect())
}

/// The same of a text of ASCII; most have few digits, or none.
fn ascii_numbers(bytes: &[u8]) -> Box<[Box<[u32]>]> {
    let (mut found, mut rest) = (Vec::new(), bytes);
    while let Some(start) = first_digit(rest) {
        stop::look();
        let (_, from) = rest.split_at(start);
        let end = from.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(from.len());
        let (run, behind) = from.split_at(end);
        found.push(run.iter().map(|&digit| u32::from(digit)).collect());
        rest = behind;
    }
    in_order(found)
}

fn first_digit(bytes: &[u8]) -> Option<usize> {
    let parts = bytes.chunks(PART);
    let part = parts.enumerate().find(|(_, part)| has_digit(part)).map(|(place, _)| place * PART)?;
    bytes[part..].iter().position(u8::is_ascii_digit).map(|place| part + place)
}

for_each_cpu! {
    fn has_digit(bytes: &[u8]) -> bool {
        bytes.iter().fold(false, |found, byte| found | byte.is_ascii_digit())
    }
}

/// The n-grams of the first line that is not blank; of a shorter one, the line itself.
fn first_line(steps: Steps, text: Text<'_>) -> Result<Box<[u64]>, Refused> {
    let (mut points, mut rest) = (Vec::new(), text);
    while points.is_empty() && !rest.is_empty() {
        stop::look();
        let line;
        (line, rest) = split_line(rest);
        points = normalised(steps, line)?;
    }
    // A number for each n-gram, which tells shorter ones apart: code points from 1 on take 21 bits.
    let number = |gram: &[u32]| gram.iter().fold(0, |number, &point| number << 21 | u64::from(point + 1));
    let grams = if points.len() < N { vec![number(&points)] } else { points.windows(N).map(number).collect() };
    Ok(in_order(grams))
}

/// The first line, as `str.splitlines` cuts it, and what follows it.
fn split_line(text: Text<'_>) -> (Text<'_>, Text<'_>) {
    match text {
        Text::Ascii(bytes) => {
            let (line, rest) = split(bytes, |&byte| is_line_end(byte.into()));
            (Text::Ascii(line), Text::Ascii(rest))
        }
        Text::Wide(points) => {
            let (line, rest) = split(points, |&point| is_line_end(point));
            (Text::Wide(line), Text::Wide(rest))
        }
    }
}

fn split<T>(items: &[T], is_end: impl Fn(&T) -> bool) -> (&[T], &[T]) {
    let end = items.iter().position(is_end).unwrap_or(items.len());
    (&items[..end], items.get(end + 1..).unwrap_or_default())
}

/// The two characters of CR LF end two lines here, but the second one is blank.
fn is_line_end(point: u32) -> bool {
    matches!(point, 0x0A..=0x0D | 0x1C..=0x1E | 0x85 | 0x2028 | 0x2029)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEPS: Steps = Steps { nfkc: true, casefold: true, whitespace: true };
    const ALL: Conditions = Conditions { lengths: 0.8, numbers: 0.5, first_lines: 0.5 };

    fn of(text: &str) -> Traits {
        ALL.traits(STEPS, Text::Ascii(text.as_bytes())).unwrap()
    }

    #[test]
    fn numbers_are_distinct_runs_of_digits() {
        assert_eq!(of("12 a3b 12, 123").numbers.len(), 3);
        assert_eq!(of_numbers(&of("1 2 3").numbers, &of("3 1").numbers), 1.0);
        assert_eq!(of_numbers(&of("1 2").numbers, &of("3 1").numbers), 0.5);
        assert_eq!(of_numbers(&of("").numbers, &of("3 1").numbers), 1.0);
    }

    #[test]
    fn the_first_line_is_the_first_that_is_not_blank() {
        assert_eq!(of("\r\n \n\tAbcd\nx").first_line, of("abcd").first_line);
        assert_eq!(of_first_lines(&of("").first_line, &of("\n \n").first_line), 1.0);
        assert_eq!(of_first_lines(&of("ab").first_line, &of("a").first_line), 0.0);
        assert_eq!(of_first_lines(&of("abcd").first_line, &of("abcx").first_line), 1.0 / 3.0);
    }

    #[test]
    fn every_condition_must_be_met() {
        assert!(ALL.are_met(&of("abcd 12"), &of("abcd 12x")));
        assert!(!ALL.are_met(&of("abcd 12"), &of("abcd 12 and more")));
        assert!(!ALL.are_met(&of("abcd 12"), &of("abcd 13")));
        assert!(!ALL.are_met(&of("abcd\n12"), &of("efgh\n12")));
        assert!(Conditions { lengths: 0.1, ..Conditions::default() }.are_met(&of("1"), &of("2")));
    }
}
