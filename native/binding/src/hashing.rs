//! The hash functions by themselves.

use es_simhash_kernels::text::hashing::{Hash, Width};
use es_simhash_kernels::text::points::Utf8;
use es_simhash_kernels::text::spans::Spans;
use es_simhash_kernels::text::weighted::Features;
use numpy::{IntoPyArray, PyArrayDyn, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::settings::width;
use crate::texts::Texts;
use crate::work;

/// Return the hashes of tokens by the function of that name, as codes of 32, 64 or 128 bits.
#[pyfunction]
pub fn hash_tokens<'py>(tokens: &Bound<'py, PyList>, name: &str, bits: u32) -> PyResult<Bound<'py, PyArrayDyn<u64>>> {
    let py = tokens.py();
    let (hash, width) = (Hash::named(name), width(bits)?);
    let (texts, mut arena) = (Texts::of(tokens)?, Vec::new());
    let read = texts.read(py, &mut arena)?;
    let features = work::run(py, read.iter().map(|text| text.len() + 1).sum(), || {
        let (mut spans, mut units, mut features) = (Spans::default(), Vec::new(), Features::default());
        spans.read(&read, &mut units)?;
        spans.hash(hash, width, &units, &mut Utf8::default(), &mut features)?;
        Ok(features)
    });
    let features = features?;
    codes(py, features.words, features.second_words, width)
}

/// Hashes as an array of codes: those of 128 bits are rows of two words.
pub fn codes(
    py: Python<'_>,
    words: Vec<u64>,
    second_words: Vec<u64>,
    width: Width,
) -> PyResult<Bound<'_, PyArrayDyn<u64>>> {
    if width != Width::Bits128 {
        return Ok(words.into_pyarray(py).to_dyn().clone());
    }
    let pairs: Vec<u64> = words.into_iter().zip(second_words).flat_map(|(first, second)| [first, second]).collect();
    let shape = [pairs.len() / 2, 2];
    Ok(pairs.into_pyarray(py).reshape(shape)?.to_dyn().clone())
}
