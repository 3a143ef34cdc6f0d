//! The numbers that texts must share, not only features (defined in `es_simhash.scheme.verifier`).

use crate::stop;
use crate::text::normalise::{Steps, normalise};
use crate::text::numbers::{Number, numbers_of};
use crate::text::{Refused, Text};

/// The numbers of a text, in order, each once.
pub fn numbers_in(steps: Steps, text: Text<'_>) -> Result<Box<[Number]>, Refused> {
    let mut units = Vec::new();
    normalise(steps, text, &mut units)?;
    Ok(numbers_of(&units).into())
}

/// The share of the numbers of the text with fewer that the other has.
pub fn shared(a: &[Number], b: &[Number]) -> f64 {
    let both = || stop::parts(a).map(|part| part.iter().filter(|number| b.binary_search(number).is_ok()).count());
    match a.len().min(b.len()) {
        0 => 1.0,
        fewer => both().sum::<usize>() as f64 / fewer as f64,
    }
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

    fn of(text: &str) -> Box<[Number]> {
        numbers_in(STEPS, Text::Ascii(text.as_bytes())).unwrap()
    }

    #[test]
    fn numbers_are_compared_by_their_values() {
        assert_eq!(of("12 a3b 12, 123").len(), 3);
        assert_eq!(shared(&of("1 2 4"), &of("4 01")), 1.0);
        assert_eq!(shared(&of("1 12,500"), &of("3 12500")), 0.5);
        assert_eq!(shared(&of(""), &of("3 1")), 1.0);
    }
}
