//! Texts to fingerprints, one after the other, in memory that is used again.

use super::settings::{MinHash, Settings, Tokens};
use crate::sketches::one_permutation::EMPTY;
use crate::sketches::simhash;
use crate::text::chars::{PADDING, mix, polynomials};
use crate::text::features::Distinct;
use crate::text::normalise::normalise;
use crate::text::{Refused, Text};

/// What one thread works in.
#[derive(Default)]
pub struct Scratch {
    units: Vec<u16>,
    hashes: Vec<u64>,
    distinct: Distinct,
    row: Vec<u32>,
}

/// The fingerprints of some texts, as columns.
#[derive(Default)]
pub struct Fingerprints {
    /// 0 is ok, 1 is short, 2 is empty.
    pub statuses: Vec<u8>,
    pub simhashes: Vec<u64>,
    pub signatures: Vec<u32>,
}

/// Append the fingerprint of a text.
pub fn fingerprint(
    settings: &Settings,
    text: Text<'_>,
    scratch: &mut Scratch,
    made: &mut Fingerprints,
) -> Result<(), Refused> {
    scratch.units.clear();
    scratch.hashes.clear();
    let has_pairs = normalise(settings.normalisation, text, &mut scratch.units)?;
    match settings.tokens {
        Tokens::Chars(n) => {
            scratch.units.extend([0; PADDING]);
            polynomials(&scratch.units, n, has_pairs, &mut scratch.hashes);
            mix(&mut scratch.hashes);
        }
    }
    condense(settings, scratch, made);
    Ok(())
}

/// Append the fingerprint of the features in `scratch.hashes`.
fn condense(settings: &Settings, scratch: &mut Scratch, made: &mut Fingerprints) {
    let hashes = &mut scratch.hashes;
    let first = made.signatures.len();
    made.signatures.resize(first + settings.signature_size(), EMPTY);
    let row = &mut made.signatures[first..];
    let count = match &settings.minhash {
        Some(MinHash::OnePermutation(sequences)) => {
            let count = scratch.distinct.keep_first_and_fill(hashes, row);
            sequences.densify(row, &mut scratch.row);
            count
        }
        None => scratch.distinct.keep_first(hashes),
    };
    if settings.simhash_bits > 0 {
        let simhash = simhash::unweighted(&hashes[..count]);
        made.simhashes.push(simhash >> (64 - settings.simhash_bits));
    }
    made.statuses.push(u8::from(count < settings.floor) + u8::from(count == 0));
}
