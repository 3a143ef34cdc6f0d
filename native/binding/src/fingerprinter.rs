//! `Fingerprinter`: the settings of a scheme, and what makes its features and fingerprints.

use es_simhash_kernels::scheme::condensing::Fingerprints;
use es_simhash_kernels::scheme::features::Document;
use es_simhash_kernels::scheme::fingerprinting::{Scratch, features, fingerprint};
use es_simhash_kernels::scheme::passages::{self, Passages};
use es_simhash_kernels::scheme::settings::Settings;
use es_simhash_kernels::text::Refused;
use es_simhash_kernels::text::hashing::Hash;
use es_simhash_kernels::text::weighted::{FeatureColumns, Weights};
use numpy::{
    IntoPyArray, PyArray1, PyArray2, PyArrayDyn, PyArrayMethods, PyReadonlyArray1, PyReadonlyArrayDyn, PyUntypedArray,
    PyUntypedArrayMethods,
};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString, PyTuple};

use crate::documents::{self, of_hashes, of_tokens};
use crate::hashing::codes;
use crate::settings::{Idf, minhash, tokens, weighing, width};
use crate::text::{GivenSteps, steps};
use crate::texts::{Texts, refused};
use crate::work;

/// Statuses, SimHashes and signatures.
type Columns<'py> = (Bound<'py, PyArray1<u8>>, Option<Bound<'py, PyArrayDyn<u64>>>, Option<Bound<'py, PyArray2<u32>>>);
/// The same of one text; the signature in bytes.
pub type One<'py> = (u8, Option<u128>, Option<Bound<'py, PyBytes>>);
/// Hashes, offsets and weights.
type Batch<'py> = (Bound<'py, PyArrayDyn<u64>>, Bound<'py, PyArray1<i64>>, Option<Bound<'py, PyUntypedArray>>);

#[pyclass(frozen)]
pub struct Fingerprinter {
    pub settings: Settings,
}

#[pymethods]
impl Fingerprinter {
    #[new]
    #[pyo3(signature = (*, normalisation, tokens, hash, hash_bits, weights, idf, simhash_bits, minhash, floor))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        normalisation: GivenSteps,
        tokens: &Bound<'_, PyTuple>,
        hash: &str,
        hash_bits: u32,
        weights: &str,
        idf: Option<Idf<'_>>,
        simhash_bits: u32,
        minhash: Option<(String, usize)>,
        floor: usize,
    ) -> PyResult<Self> {
        let py = tokens.py();
        if simhash_bits > hash_bits {
            return Err(refused(Refused));
        }
        Ok(Self {
            settings: Settings {
                normalisation: steps(normalisation)?,
                tokens: self::tokens(tokens)?,
                hash: Hash::named(hash),
                width: width(hash_bits)?,
                weighing: weighing(py, weights, idf)?,
                simhash_bits,
                minhash: self::minhash(py, minhash)?,
                floor,
            },
        })
    }

    /// Return the statuses, SimHashes and signatures of texts.
    fn fingerprints<'py>(&self, texts: &Bound<'py, PyList>) -> PyResult<Columns<'py>> {
        with_texts(texts, |documents| self.condense_documents(texts.py(), documents))
    }

    /// Return the status, SimHash and signature of one text.
    fn fingerprint<'py>(&self, text: &Bound<'py, PyString>) -> PyResult<One<'py>> {
        Ok(self.one(text.py(), &self.of_text(text)?))
    }

    /// Return the statuses, SimHashes and signatures of texts given as tokens.
    fn fingerprints_of_tokens<'py>(&self, lists: &Bound<'py, PyList>) -> PyResult<Columns<'py>> {
        with_tokens(lists, |documents| self.condense_documents(lists.py(), documents))
    }

    /// Do the same for hashes.
    #[pyo3(signature = (hashes, offsets, weights = None))]
    fn condense<'py>(
        &self,
        py: Python<'py>,
        hashes: PyReadonlyArrayDyn<'py, u64>,
        offsets: PyReadonlyArray1<'py, i64>,
        weights: Option<documents::Weights<'py>>,
    ) -> PyResult<Columns<'py>> {
        let count = hashes.shape().first().copied().unwrap_or_default();
        let weights = documents::given(weights.as_ref(), count)?;
        self.condense_documents(py, &of_hashes(&hashes, &offsets, weights, self.settings.width)?)
    }

    /// Return the hashes, offsets and weights of the features of texts.
    fn features<'py>(&self, texts: &Bound<'py, PyList>) -> PyResult<Batch<'py>> {
        with_texts(texts, |documents| self.features_of_documents(texts.py(), documents))
    }

    /// Return the keys of the passages of each text, whose features are words; of a short one an empty text.
    fn passages<'py>(
        &self,
        texts: &Bound<'py, PyList>,
        words: usize,
        window: usize,
        key_bits: u32,
    ) -> PyResult<Vec<Bound<'py, PyString>>> {
        let passages = Passages::new(words, window, key_bits).ok_or_else(|| refused(Refused))?;
        with_texts(texts, |documents| self.keys_of_documents(texts.py(), &passages, documents))
    }

    /// Do the same for texts given as tokens.
    fn features_of_tokens<'py>(&self, lists: &Bound<'py, PyList>) -> PyResult<Batch<'py>> {
        with_tokens(lists, |documents| self.features_of_documents(lists.py(), documents))
    }
}

impl Fingerprinter {
    fn units(&self, documents: &[Document<'_>]) -> usize {
        documents
            .iter()
            .fold(0, |units, document| units.saturating_add(document.units(&self.settings)).saturating_add(1))
    }

    /// Make the fingerprint of one text.
    pub fn of_text(&self, text: &Bound<'_, PyString>) -> PyResult<Fingerprints> {
        let (string, mut arena) = (Texts::one(text), Vec::new());
        let documents = [Document::Text(string.read(text.py(), &mut arena)?[0])];
        self.made(text.py(), &documents)
    }

    /// Return the only fingerprint that was made.
    pub fn one<'py>(&self, py: Python<'py>, made: &Fingerprints) -> One<'py> {
        let bytes: Vec<u8> = made.signatures.iter().flat_map(|value| value.to_le_bytes()).collect();
        let signature = self.settings.minhash.is_some().then(|| PyBytes::new(py, &bytes));
        (made.statuses[0], made.simhash(), signature)
    }

    fn made(&self, py: Python<'_>, documents: &[Document<'_>]) -> PyResult<Fingerprints> {
        work::run(py, self.units(documents), || {
            let (mut scratch, mut made) = (Scratch::default(), Fingerprints::default());
            let mut each = documents.iter();
            each.try_for_each(|&document| fingerprint(&self.settings, document, &mut scratch, &mut made)).map(|()| made)
        })
    }

    fn condense_documents<'py>(&self, py: Python<'py>, documents: &[Document<'_>]) -> PyResult<Columns<'py>> {
        let settings = &self.settings;
        let made = self.made(py, documents)?;
        let (count, size) = (made.statuses.len(), settings.signature_size());
        let simhashes = made.simhashes.into_pyarray(py);
        let simhashes = match settings.simhash_bits {
            0 => None,
            1..=64 => Some(simhashes.to_dyn().clone()),
            _ => Some(simhashes.reshape([count, 2])?.to_dyn().clone()),
        };
        let signatures = settings.minhash.is_some().then(|| made.signatures.into_pyarray(py).reshape([count, size]));
        Ok((made.statuses.into_pyarray(py), simhashes, signatures.transpose()?))
    }

    fn keys_of_documents<'py>(
        &self,
        py: Python<'py>,
        passages: &Passages,
        documents: &[Document<'_>],
    ) -> PyResult<Vec<Bound<'py, PyString>>> {
        let (written, ends) = work::run(py, self.units(documents), || {
            let (mut scratch, mut written) = (passages::Scratch::default(), Vec::new());
            let ends = documents.iter().map(|&document| {
                passages.append_keys(&self.settings, document, &mut scratch, &mut written).map(|()| written.len())
            });
            let ends = ends.collect::<Result<Vec<_>, _>>()?;
            String::from_utf8(written).map(|written| (written, ends)).map_err(|_| Refused)
        })?;
        let mut start = 0;
        let each = work::each(py, ends).map(|end| {
            let end = end?;
            let keys = PyString::new(py, &written[start..end]);
            start = end;
            Ok(keys)
        });
        each.collect()
    }

    fn features_of_documents<'py>(&self, py: Python<'py>, documents: &[Document<'_>]) -> PyResult<Batch<'py>> {
        let settings = &self.settings;
        let made = work::run(py, self.units(documents), || {
            let (mut scratch, mut made) = (Scratch::default(), FeatureColumns::default());
            let mut each = documents.iter();
            each.try_for_each(|&document| features(settings, document, &mut scratch, &mut made)).map(|()| made)
        })?;
        let FeatureColumns { features, ends } = made;
        let offsets: Vec<i64> = std::iter::once(0).chain(ends.into_iter().map(|end| end as i64)).collect();
        let weights = match features.weights {
            Weights::One => None,
            Weights::Integers(weights) => Some(weights.into_pyarray(py).as_untyped().clone()),
            Weights::Floats(weights) => Some(weights.into_pyarray(py).as_untyped().clone()),
        };
        let hashes = codes(py, features.words, features.second_words, settings.width)?;
        Ok((hashes, offsets.into_pyarray(py), weights))
    }
}

fn with_texts<T>(texts: &Bound<'_, PyList>, make: impl Fn(&[Document<'_>]) -> PyResult<T>) -> PyResult<T> {
    let (strings, mut arena) = (Texts::of(texts)?, Vec::new());
    let documents: Vec<_> = strings.read(texts.py(), &mut arena)?.into_iter().map(Document::Text).collect();
    make(&documents)
}

fn with_tokens<T>(lists: &Bound<'_, PyList>, make: impl Fn(&[Document<'_>]) -> PyResult<T>) -> PyResult<T> {
    let ((strings, ends), mut arena) = (Texts::of_lists(lists)?, Vec::new());
    make(&of_tokens(&strings.read(lists.py(), &mut arena)?, &ends))
}
