//! What texts must have in common besides features (defined in `es_simhash.scheme.verdict.conditions`).

use crate::stop;
use crate::text::normalise::{Steps, normalise};
use crate::text::numbers::{Number, numbers_of};
use crate::text::points::points;
use crate::text::{Refused, Text};

const N: usize = 3;

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
    /// In order, each once.
    numbers: Box<[Number]>,
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
        if self.lengths != 0.0 || self.numbers != 0.0 {
            let units = normalised(steps, text)?;
            traits.length = points(&units).count();
            if self.numbers != 0.0 {
                traits.numbers = numbers_of(&units).into();
            }
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
        size_of_val(&*self.first_line) + self.numbers.iter().map(Number::size).sum::<usize>()
    }
}

fn is_enough(least: f64, agreement: impl Fn() -> f64) -> bool {
    least == 0.0 || agreement() >= least
}

fn of_lengths(a: usize, b: usize) -> f64 {
    if a.max(b) == 0 { 1.0 } else { a.min(b) as f64 / a.max(b) as f64 }
}

fn of_numbers(a: &[Number], b: &[Number]) -> f64 {
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

fn normalised(steps: Steps, text: Text<'_>) -> Result<Vec<u16>, Refused> {
    let mut units = Vec::new();
    normalise(steps, text, &mut units)?;
    Ok(units)
}

fn in_order<T: Ord>(mut items: Vec<T>) -> Box<[T]> {
    stop::sort(&mut items);
    items.dedup();
    items.into()
}

/// The n-grams of the first line that is not blank; of a shorter one, the line itself.
fn first_line(steps: Steps, text: Text<'_>) -> Result<Box<[u64]>, Refused> {
    let (mut units, mut rest) = (Vec::new(), text);
    while units.is_empty() && !rest.is_empty() {
        stop::look();
        let line;
        (line, rest) = split_line(rest);
        units = normalised(steps, line)?;
    }
    let points: Vec<u32> = points(&units).map(|(_, point)| point).collect();
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
    use crate::text::normalise::Folding;

    const STEPS: Steps = Steps {
        nfkc: true,
        casefold: true,
        whitespace: true,
        folding: Folding { han: false, kana: false, accents: false },
    };
    const ALL: Conditions = Conditions { lengths: 0.8, numbers: 0.5, first_lines: 0.5 };

    fn of(text: &str) -> Traits {
        ALL.traits(STEPS, Text::Ascii(text.as_bytes())).unwrap()
    }

    #[test]
    fn numbers_are_compared_by_their_values() {
        assert_eq!(of("12 a3b 12, 123").numbers.len(), 3);
        assert_eq!(of_numbers(&of("1 2 4").numbers, &of("4 01").numbers), 1.0);
        assert_eq!(of_numbers(&of("1 12,500").numbers, &of("3 12500").numbers), 0.5);
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
