//! `Fields`: what a document stores of a fingerprint.

use es_simhash_kernels::scheme::fields::{Field, KeyForm, Layout};
use es_simhash_kernels::sketches::bands::Bands;
use es_simhash_kernels::sketches::blocks::Blocks;
use es_simhash_kernels::sketches::codec::SignatureCodec;
use es_simhash_kernels::text;
use numpy::{PyReadonlyArray1, PyReadonlyArray2, PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};

use crate::texts::{Refused, Texts};

/// The number of a status that has no fingerprint.
const EMPTY: u8 = 2;

#[pyclass(frozen)]
pub struct Fields {
    layout: Layout,
    /// The names of the layout's fields, in their order.
    names: Vec<Py<PyString>>,
    scheme_name: Py<PyString>,
    status_name: Py<PyString>,
    scheme: Py<PyString>,
    statuses: Vec<Py<PyString>>,
}

#[pymethods]
impl Fields {
    /// Take the bits and the number of blocks; the number of bands, their rows and the bits of a key; the size of a
    /// signature and the bits of its values; and the names of all fields, that of the scheme and of the status last.
    #[new]
    #[pyo3(signature = (*, blocks, bands, signature, keys, names, scheme, statuses))]
    fn new(
        blocks: Option<(u32, u32)>,
        bands: Option<(usize, usize, u32)>,
        signature: Option<(usize, u32)>,
        keys: &str,
        mut names: Vec<Py<PyString>>,
        scheme: Py<PyString>,
        statuses: Vec<Py<PyString>>,
    ) -> PyResult<Self> {
        let form = match keys {
            "text" => KeyForm::Text,
            "keyword" => KeyForm::List,
            "fields" => KeyForm::Fields,
            _ => return Err(Refused::new_err(())),
        };
        let blocks = blocks.map(|(bits, count)| Blocks { bits, count });
        let bands = bands.map(|(count, rows, key_bits)| Bands { count, rows, key_bits });
        let signature = signature.map(|(size, value_bits)| SignatureCodec { size, value_bits });
        let layout = Layout::new(blocks, bands, signature, form).ok_or_else(refused)?;
        let (Some(status_name), Some(scheme_name)) = (names.pop(), names.pop()) else { return Err(refused()) };
        if names.len() != layout.fields().len() || statuses.len() != usize::from(EMPTY) + 1 {
            return Err(refused());
        }
        Ok(Self { layout, names, scheme_name, status_name, scheme, statuses })
    }

    /// Return the fields of each text, given its fingerprint.
    #[pyo3(signature = (texts, statuses, simhashes, signatures))]
    fn write<'py>(
        &self,
        texts: &Bound<'py, PyList>,
        statuses: PyReadonlyArray1<'py, u8>,
        simhashes: Option<PyReadonlyArrayDyn<'py, u64>>,
        signatures: Option<PyReadonlyArray2<'py, u32>>,
    ) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let py = texts.py();
        let strings = Texts::of(texts)?;
        let mut arena = Vec::new();
        let texts = strings.read(&mut arena)?;
        let count = texts.len();
        let statuses = statuses.as_slice().map_err(|_| refused())?;
        let words = self.words_per_simhash();
        let simhashes = match &simhashes {
            Some(simhashes) => simhashes.as_slice().map_err(|_| refused())?,
            None => &[],
        };
        let (signatures, size) = match &signatures {
            Some(signatures) => (signatures.as_slice().map_err(|_| refused())?, signatures.shape()[1]),
            None => (&[][..], 0),
        };
        let is_whole = statuses.len() == count && signatures.len() == count * size;
        if !is_whole || (words > 0 && simhashes.len() != count * words) || !self.layout.takes_signatures(size) {
            return Err(refused());
        }
        let written = py.detach(|| {
            let (mut written, mut bytes) = (Vec::with_capacity(count * self.layout.length()), Vec::new());
            for (i, &text) in texts.iter().enumerate() {
                let simhash = simhashes[i * words..(i + 1) * words].iter();
                let simhash = simhash.fold(0, |code, &word| code << 64 | u128::from(word));
                let signature = &signatures[i * size..(i + 1) * size];
                self.layout.append(text, simhash, signature, &mut bytes, &mut written)?;
            }
            Ok(written)
        });
        let written = written.map_err(|_: text::Refused| refused())?;
        let written = String::from_utf8(written).map_err(|_| refused())?;
        let rows = (0..count).map(|i| &written[i * self.layout.length()..(i + 1) * self.layout.length()]);
        rows.zip(statuses).map(|(row, &status)| self.fields(py, row, status)).collect()
    }
}

impl Fields {
    fn words_per_simhash(&self) -> usize {
        self.layout.simhash_bits().map_or(0, |bits| bits.div_ceil(64) as usize)
    }

    fn fields<'py>(&self, py: Python<'py>, row: &str, status: u8) -> PyResult<Bound<'py, PyDict>> {
        let made = PyDict::new(py);
        let first = if status == EMPTY { self.names.len() - 1 } else { 0 };
        for (name, field) in self.names.iter().zip(self.layout.fields()).skip(first) {
            made.set_item(name, value(py, field, &row[field.place.clone()])?)?;
        }
        made.set_item(&self.scheme_name, &self.scheme)?;
        made.set_item(&self.status_name, self.statuses.get(usize::from(status)).ok_or_else(refused)?)?;
        Ok(made)
    }
}

fn value<'py>(py: Python<'py>, field: &Field, text: &str) -> PyResult<Bound<'py, PyAny>> {
    match field.key {
        None => Ok(PyString::new(py, text).into_any()),
        Some(width) => {
            let keys = (0..text.len()).step_by(width + 1).map(|start| &text[start..start + width]);
            Ok(PyList::new(py, keys.collect::<Vec<_>>())?.into_any())
        }
    }
}

fn refused() -> PyErr {
    Refused::new_err(())
}
