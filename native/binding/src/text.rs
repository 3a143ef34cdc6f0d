//! The steps from texts to features, each by itself.

use es_simhash_kernels::stop;
use es_simhash_kernels::text::Refused;
use es_simhash_kernels::text::normalise::{Folding, Steps, normalise as append_normalised};
use es_simhash_kernels::text::words::joined;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};

use crate::texts::{Texts, refused};
use crate::work;

/// Whether to take NFKC, case folding and white space, and the kinds of folding.
pub type GivenSteps = (bool, bool, bool, Vec<String>);

/// Return the steps that these are.
pub fn steps((nfkc, casefold, whitespace, kinds): GivenSteps) -> PyResult<Steps> {
    let folding = Folding::named(&kinds).ok_or_else(|| refused(Refused))?;
    Ok(Steps { nfkc, casefold, whitespace, folding })
}

/// Return the normalised texts.
#[pyfunction]
pub fn normalise(texts: &Bound<'_, PyList>, steps: GivenSteps) -> PyResult<Vec<String>> {
    let steps = self::steps(steps)?;
    let strings = Texts::of(texts)?;
    let mut arena = Vec::new();
    let read = strings.read(texts.py(), &mut arena)?;
    work::run(texts.py(), read.iter().map(|text| text.len() + 1).sum(), || {
        let mut units = Vec::new();
        let normalise_one = |&text| {
            stop::look();
            units.clear();
            append_normalised(steps, text, &mut units)?;
            String::from_utf16(&units).map_err(|_| Refused)
        };
        read.iter().map(normalise_one).collect::<Result<_, _>>()
    })
}

/// Return the words of a text with a space between each two; those of more than `longest` characters are cut into such.
#[pyfunction]
pub fn words(text: &Bound<'_, PyString>, longest: usize) -> PyResult<String> {
    let strings = Texts::one(text);
    let mut arena = Vec::new();
    let read = strings.read(text.py(), &mut arena)?;
    work::run(text.py(), read[0].len(), || joined(read[0], longest))
}
