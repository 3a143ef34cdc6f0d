//! Weighted features to fingerprints (defined in `es_simhash.scheme.fingerprinting.fingerprints`).

use super::settings::{MinHash, Settings};
use crate::sketches::one_permutation::EMPTY;
use crate::sketches::simhash;
use crate::text::Refused;
use crate::text::features::Distinct;
use crate::text::weighted::Features;

/// What one thread condenses in.
#[derive(Default)]
pub struct Scratch {
    pub distinct: Distinct,
    row: Vec<u32>,
}

/// The fingerprints of some texts, as columns.
#[derive(Default)]
pub struct Fingerprints {
    /// 0 is ok, 1 is short, 2 is empty.
    pub statuses: Vec<u8>,
    /// One word each, or two if they have more than 64 bits.
    pub simhashes: Vec<u64>,
    pub signatures: Vec<u32>,
}

/// Append the fingerprint of a text with these features.
///
/// They are as `Weighing` says: for `Set` they still repeat, and are made distinct here, in the loop that fills bins;
/// for `Idf` they are distinct; for the others each occurrence stands for itself, with its weight.
pub fn condense(
    settings: &Settings,
    features: &mut Features,
    scratch: &mut Scratch,
    made: &mut Fingerprints,
) -> Result<(), Refused> {
    let hashes = &mut features.words;
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
    Ok(())
}
