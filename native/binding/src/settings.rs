//! The settings of a `Fingerprinter`, from its arguments.

use es_simhash_kernels::scheme::settings::{MinHash, Tokens, Weighing};
use es_simhash_kernels::text::hashing::Width;
use es_simhash_kernels::text::idf::IdfTable;
use es_simhash_kernels::text::runs::Dense;
use es_simhash_kernels::text::{self as kernels, stop_words::StopWords};
use numpy::{PyReadonlyArray1, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

use crate::texts::{Texts, refused};
use crate::work;

/// Weights of features by hash, and the weight of all others.
pub type Idf<'py> = (PyReadonlyArray1<'py, u64>, PyReadonlyArray1<'py, u32>, i64);

/// Read `("chars", n)`, `("runs", dense)`, `("runs-and-numbers",)`, `("words", n, stop_words)` or `("given",)`.
pub fn tokens(given: &Bound<'_, PyTuple>) -> PyResult<Tokens> {
    let kind: String = given.get_item(0)?.extract()?;
    match kind.as_str() {
        "chars" => Ok(Tokens::Chars(run(given)?)),
        "runs" => Ok(Tokens::Runs(dense(run(given)?)?)),
        "runs-and-numbers" => Ok(Tokens::RunsAndNumbers),
        "words" => Ok(Tokens::Words { n: run(given)?, stop_words: stop_words(given.get_item(2)?.cast::<PyList>()?)? }),
        "given" => Ok(Tokens::Given),
        _ => Err(refused(kernels::Refused)),
    }
}

fn run(given: &Bound<'_, PyTuple>) -> PyResult<usize> {
    let n = given.get_item(1)?.extract()?;
    if n == 0 { Err(refused(kernels::Refused)) } else { Ok(n) }
}

fn dense(count: usize) -> PyResult<Dense> {
    Dense::ALL.into_iter().find(|&dense| dense as usize == count).ok_or_else(|| refused(kernels::Refused))
}

/// Stop words with lone surrogates are left out: no text has them.
fn stop_words(list: &Bound<'_, PyList>) -> PyResult<StopWords> {
    let (texts, mut arena) = (Texts::of(list)?, Vec::new());
    let words = texts.read(list.py(), &mut arena)?.into_iter().filter_map(|word| {
        let mut units = Vec::new();
        word.encode(&mut units).is_ok().then_some(units)
    });
    Ok(StopWords::new(&words.collect::<Vec<_>>()))
}

pub fn weighing(py: Python<'_>, name: &str, idf: Option<Idf<'_>>) -> PyResult<Weighing> {
    match (name, idf) {
        ("set", None) => Ok(Weighing::Set),
        ("tf", None) => Ok(Weighing::Tf),
        ("own", None) => Ok(Weighing::Own),
        ("idf", Some(table)) => Ok(Weighing::Idf(idf_table(py, &table)?)),
        ("tfidf", Some(table)) => Ok(Weighing::TfIdf(idf_table(py, &table)?)),
        _ => Err(refused(kernels::Refused)),
    }
}

fn idf_table(py: Python<'_>, (hashes, weights, unseen): &Idf<'_>) -> PyResult<IdfTable> {
    if hashes.len() != weights.len() {
        return Err(refused(kernels::Refused));
    }
    let (hashes, weights) = (hashes.as_slice()?, weights.as_slice()?);
    work::run(py, hashes.len(), || Ok(IdfTable::new(hashes.iter().copied().zip(weights.iter().copied()), *unseen)))
}

pub fn minhash(py: Python<'_>, given: Option<(String, usize)>) -> PyResult<Option<MinHash>> {
    // Each position of a signature may have a sequence of all.
    let made = |(kind, size): (String, usize)| {
        work::run(py, size.saturating_mul(size), || MinHash::named(&kind, size).ok_or(kernels::Refused))
    };
    given.map(made).transpose()
}

pub fn width(bits: u32) -> PyResult<Width> {
    match bits {
        32 => Ok(Width::Bits32),
        64 => Ok(Width::Bits64),
        128 => Ok(Width::Bits128),
        _ => Err(refused(kernels::Refused)),
    }
}
