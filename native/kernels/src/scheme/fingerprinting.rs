//! Texts to fingerprints, one after the other, in memory that is used again.

use super::condensing::{self, Fingerprints, condense};
use super::settings::{Settings, Tokens};
use crate::text::chars::{PADDING, mix, polynomials};
use crate::text::normalise::normalise;
use crate::text::weighted::Features;
use crate::text::{Refused, Text};

/// What one thread works in.
#[derive(Default)]
pub struct Scratch {
    units: Vec<u16>,
    features: Features,
    condensing: condensing::Scratch,
}

/// Append the fingerprint of a text.
pub fn fingerprint(
    settings: &Settings,
    text: Text<'_>,
    scratch: &mut Scratch,
    made: &mut Fingerprints,
) -> Result<(), Refused> {
    scratch.units.clear();
    scratch.features.clear();
    let has_pairs = normalise(settings.normalisation, text, &mut scratch.units)?;
    match settings.tokens {
        Tokens::Chars(n) => {
            scratch.units.extend([0; PADDING]);
            let hashes = &mut scratch.features.words;
            polynomials(&scratch.units, n, has_pairs, hashes);
            mix(hashes);
        }
    }
    condense(settings, &mut scratch.features, &mut scratch.condensing, made)
}
