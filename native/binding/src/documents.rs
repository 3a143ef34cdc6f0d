//! Documents given as tokens, or as hashes with weights.

use es_simhash_kernels::scheme::features::{Document, GivenWeights};
use es_simhash_kernels::text::hashing::Width;
use es_simhash_kernels::text::{Refused, Text};
use numpy::{PyReadonlyArray1, PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::prelude::*;

use crate::texts::refused;

/// One weight a hash.
#[derive(FromPyObject)]
pub enum Weights<'py> {
    Integers(PyReadonlyArray1<'py, i64>),
    Floats(PyReadonlyArray1<'py, f64>),
}

/// Return the given weights of `count` hashes.
pub fn given<'a>(weights: Option<&'a Weights<'_>>, count: usize) -> PyResult<GivenWeights<'a>> {
    let (given, found) = match weights {
        None => (GivenWeights::One, count),
        Some(Weights::Integers(array)) => (GivenWeights::Integers(array.as_slice()?), array.len()),
        Some(Weights::Floats(array)) => (GivenWeights::Floats(array.as_slice()?), array.len()),
    };
    if found == count { Ok(given) } else { Err(refused(Refused)) }
}

/// Documents of tokens, which are as many up to the end of each document.
pub fn of_tokens<'a>(tokens: &'a [Text<'a>], ends: &[usize]) -> Vec<Document<'a>> {
    parts(ends).map(|(start, end)| Document::Tokens(&tokens[start..end])).collect()
}

/// Documents of hashes, with the offsets of `es_simhash.text.features.FeatureBatch`.
pub fn of_hashes<'a>(
    hashes: &'a PyReadonlyArrayDyn<'_, u64>,
    offsets: &PyReadonlyArray1<'_, i64>,
    weights: GivenWeights<'a>,
    width: Width,
) -> PyResult<Vec<Document<'a>>> {
    let words = hashes.as_slice()?;
    let (count, words_a_hash) = match (hashes.shape(), width) {
        (&[count], Width::Bits64) => (count, 1),
        (&[count, 2], Width::Bits128) => (count, 2),
        _ => return Err(refused(Refused)),
    };
    let ends = ends(offsets.as_slice()?, count).ok_or(Refused).map_err(refused)?;
    let parts = parts(&ends).map(|(start, end)| {
        Document::Hashes(&words[start * words_a_hash..end * words_a_hash], weights.part(start, end))
    });
    Ok(parts.collect())
}

/// The offsets but the first, if they are those of `count` features.
fn ends(offsets: &[i64], count: usize) -> Option<Vec<usize>> {
    let offsets: Option<Vec<usize>> = offsets.iter().map(|&offset| offset.try_into().ok()).collect();
    let offsets = offsets?;
    let fit = offsets.first() == Some(&0) && offsets.last() == Some(&count) && offsets.is_sorted();
    fit.then(|| offsets[1..].to_vec())
}

/// The first position of each document, and that after its last.
fn parts(ends: &[usize]) -> impl Iterator<Item = (usize, usize)> {
    std::iter::once(0).chain(ends.iter().copied()).zip(ends.iter().copied())
}
