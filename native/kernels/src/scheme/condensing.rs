//! Weighted features to fingerprints (defined in `es_simhash.scheme.fingerprinting.fingerprints`).

use super::settings::{MinHash, Settings, Weighing};
use crate::sketches::one_permutation::{self, EMPTY};
use crate::sketches::repeated::Summed;
use crate::sketches::{simhash, weighted};
use crate::stop;
use crate::text::Refused;
use crate::text::features::Distinct;
use crate::text::hashing::poly64::fmix64;
use crate::text::weighted::{Features, Weights};

/// What one thread condenses in.
#[derive(Default)]
pub struct Scratch {
    distinct: Distinct,
    bins: one_permutation::Scratch,
    words: Vec<u64>,
    summed: Summed,
    samples: weighted::Scratch,
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

impl Fingerprints {
    /// The SimHash of the only text, if it has one.
    pub fn simhash(&self) -> Option<u128> {
        match self.simhashes[..] {
            [first, second] => Some(u128::from(first) << 64 | u128::from(second)),
            [only] => Some(u128::from(only)),
            _ => None,
        }
    }
}

/// Append the fingerprint of a text with these features.
///
/// They are as `Weighing` says: for `Set` they still repeat, and are made distinct here,
/// unless only smallest values are wanted, which do not mind repetitions; for `Idf` they are distinct; for the others each
/// occurrence stands for itself, with its weight.
pub fn condense(
    settings: &Settings,
    features: &mut Features,
    scratch: &mut Scratch,
    made: &mut Fingerprints,
) -> Result<(), Refused> {
    let first = made.signatures.len();
    made.signatures.resize(first + settings.signature_size(), EMPTY);
    let row = &mut made.signatures[first..];
    let finds_smallest_only =
        settings.simhash_bits == 0 && matches!(settings.minhash, Some(MinHash::OnePermutation(_) | MinHash::KHash(_)));
    if matches!(settings.weighing, Weighing::Set) && !finds_smallest_only {
        features.keep_first(&mut scratch.distinct);
    }
    if let Some(minhash) = &settings.minhash {
        sign(minhash, settings.hash.is_mixed(), features, scratch, row)?;
    }
    let count = match settings.weighing {
        Weighing::Set if !finds_smallest_only => features.words.len(),
        Weighing::Idf(_) => features.words.len(),
        // Without any positive weight there is no signature.
        Weighing::Own if settings.minhash.is_some() && row.iter().all(|&value| value == EMPTY) => 0,
        _ => distinct_count(&features.words, settings.floor, scratch),
    };
    append_simhash(settings.simhash_bits, features, &mut made.simhashes)?;
    made.statuses.push(u8::from(count < settings.floor) + u8::from(count == 0));
    Ok(())
}

/// Count distinct features; a count from `enough` on may be too small.
fn distinct_count(words: &[u64], enough: usize, scratch: &mut Scratch) -> usize {
    let mut count = 0;
    // The first features nearly always suffice.
    for glance in [words.len().min(enough.saturating_mul(2)), words.len()] {
        if count < enough {
            scratch.words.clear();
            stop::extend(&mut scratch.words, words[..glance].iter().copied());
            count = scratch.distinct.keep_first(&mut scratch.words);
        }
    }
    count
}

/// Write the signature of features into a row of empty values.
fn sign(
    minhash: &MinHash,
    is_mixed: bool,
    features: &Features,
    scratch: &mut Scratch,
    row: &mut [u32],
) -> Result<(), Refused> {
    let mut words = &features.words;
    if !is_mixed {
        scratch.words.clear();
        stop::extend(&mut scratch.words, words.iter().map(|&word| fmix64(word)));
        words = &scratch.words;
    }
    match minhash {
        MinHash::OnePermutation(sequences) => {
            stop::parts(words).for_each(|part| one_permutation::fill(row, part));
            sequences.densify(row, &mut scratch.bins);
        }
        MinHash::KHash(functions) => functions.fill(row, words),
        MinHash::Weighted(samples) => {
            scratch.summed.read(words, &features.weights)?;
            samples.fill(row, &scratch.summed.hashes, &scratch.summed.weights, &mut scratch.samples);
        }
    }
    Ok(())
}

/// Append the first `bits` bits of the SimHash, in a word or, if they are more than 64, in two; none for 0.
fn append_simhash(bits: u32, features: &Features, simhashes: &mut Vec<u64>) -> Result<(), Refused> {
    if bits == 0 {
        return Ok(());
    }
    let first = signs(&features.words, &features.weights)?;
    if bits <= 64 {
        simhashes.push(first >> (64 - bits));
        return Ok(());
    }
    let second = signs(&features.second_words, &features.weights)?;
    let code = (u128::from(first) << 64 | u128::from(second)) >> (128 - bits);
    simhashes.extend([(code >> 64) as u64, code as u64]);
    Ok(())
}

fn signs(words: &[u64], weights: &Weights) -> Result<u64, Refused> {
    match weights {
        Weights::One => Ok(simhash::unweighted(words)),
        Weights::Integers(weights) => simhash::weighted_by_integers(words, weights),
        Weights::Floats(weights) => simhash::weighted_by_floats(words, weights),
    }
}
