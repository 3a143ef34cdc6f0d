//! Normalisation to UTF-16 units (defined in `es_simhash.text.normalise`).

mod ascii;
mod block;
mod by_code_point;
mod compositions;
mod definition;
mod folding;
mod marks;
mod spaces;
mod tables;
mod unicode;
mod wide;

use super::{Refused, Text};

pub use folding::Folding;

/// The steps to take.
#[derive(Clone, Copy, Debug)]
pub struct Steps {
    pub nfkc: bool,
    pub casefold: bool,
    pub whitespace: bool,
    pub folding: Folding,
}

/// Append the normalised text to `units`; return whether it has code points beyond U+FFFF.
pub fn normalise(steps: Steps, text: Text<'_>, units: &mut Vec<u16>) -> Result<bool, Refused> {
    let first = units.len();
    let found = match text {
        Text::Ascii(bytes) => ascii::map(steps, bytes, units),
        Text::Wide(points) => {
            wide::map(steps, points, units)?;
            steps.folding.apply(units, first);
            spaces::look(&units[first..])
        }
    };
    if steps.whitespace {
        spaces::collapse(units, first, found);
    }
    Ok(found.has_pairs)
}
