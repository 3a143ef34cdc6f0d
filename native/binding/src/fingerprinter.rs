//! `Fingerprinter`: the settings of a scheme, and what makes its fingerprints.

use es_simhash_kernels::scheme::condensing::Fingerprints;
use es_simhash_kernels::scheme::fingerprinting::{Scratch, fingerprint};
use es_simhash_kernels::scheme::settings::{MinHash, Settings, Tokens, Weighing};
use es_simhash_kernels::sketches::one_permutation::Sequences;
use es_simhash_kernels::text::normalise::Steps;
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::texts::{Refused, Texts};

type Columns<'py> = (Bound<'py, PyArray1<u8>>, Bound<'py, PyArray1<u64>>, Bound<'py, PyArray2<u32>>);

#[pyclass(frozen)]
pub struct Fingerprinter {
    settings: Settings,
}

#[pymethods]
impl Fingerprinter {
    #[new]
    #[pyo3(signature = (*, normalisation, n, simhash_bits, minhash_size, floor))]
    fn new(normalisation: (bool, bool, bool), n: usize, simhash_bits: u32, minhash_size: usize, floor: usize) -> Self {
        let (nfkc, casefold, whitespace) = normalisation;
        let minhash = (minhash_size > 0).then(|| MinHash::OnePermutation(Sequences::new(minhash_size)));
        let normalisation = Steps { nfkc, casefold, whitespace };
        Self {
            settings: Settings {
                normalisation,
                tokens: Tokens::Chars(n),
                is_mixed: true,
                weighing: Weighing::Set,
                simhash_bits,
                minhash,
                floor,
            },
        }
    }

    /// Return the statuses, SimHashes and signatures of texts.
    fn fingerprints<'py>(&self, texts: &Bound<'py, PyList>) -> PyResult<Columns<'py>> {
        let py = texts.py();
        let strings = Texts::of(texts)?;
        let mut arena = Vec::new();
        let read = strings.read(&mut arena)?;
        let made = py.detach(|| {
            let (mut scratch, mut made) = (Scratch::default(), Fingerprints::default());
            read.iter().try_for_each(|&text| fingerprint(&self.settings, text, &mut scratch, &mut made))?;
            Ok(made)
        });
        let made = made.map_err(|_: es_simhash_kernels::text::Refused| Refused::new_err(()))?;
        let shape = [made.statuses.len(), self.settings.signature_size()];
        Ok((
            made.statuses.into_pyarray(py),
            made.simhashes.into_pyarray(py),
            made.signatures.into_pyarray(py).reshape(shape)?,
        ))
    }
}
