//! `Fields`: what a document stores of a fingerprint.

use es_simhash_kernels::scheme::fields::{Field, KeyForm, Layout};
use es_simhash_kernels::sketches::bands::Bands;
use es_simhash_kernels::sketches::blocks::Blocks;
use es_simhash_kernels::sketches::codec::SignatureCodec;
use es_simhash_kernels::stop;
use es_simhash_kernels::text::Refused;
use numpy::ndarray::Dimension;
use numpy::{Element, PyReadonlyArray, PyReadonlyArray1, PyReadonlyArray2, PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};

use crate::fingerprinter::{Fingerprinter, One};
use crate::stored;
use crate::texts::refused;
use crate::utf8::Utf8;
use crate::work;

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
    /// Take the bits and the number of blocks, and whether the SimHash has a field of its own; the number of bands, their
    /// rows and the bits of a key; the size of a signature and the bits of its values; and the names of all fields, that
    /// of the scheme and of the status last.
    #[new]
    #[pyo3(signature = (*, blocks, bands, signature, keys, names, scheme, statuses))]
    fn new(
        blocks: Option<(u32, u32, bool)>,
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
            _ => return Err(refused(Refused)),
        };
        let has_simhash = blocks.is_some_and(|(_, _, has_field)| has_field);
        let blocks = blocks.map(|(bits, count, _)| Blocks { bits, count });
        let bands = bands.map(|(count, rows, key_bits)| Bands { count, rows, key_bits });
        let signature = signature.map(|(size, value_bits)| SignatureCodec { size, value_bits });
        let layout = Layout::new(blocks, bands, signature, form, has_simhash).ok_or_else(|| refused(Refused))?;
        let (Some(status_name), Some(scheme_name)) = (names.pop(), names.pop()) else { return Err(refused(Refused)) };
        if names.len() != layout.fields().len() || statuses.len() != usize::from(EMPTY) + 1 {
            return Err(refused(Refused));
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
        let texts: Vec<_> = work::each(py, texts).map(|text| Utf8::of(text?)).collect::<PyResult<_>>()?;
        let texts: Vec<_> = texts.iter().map(Utf8::bytes).collect::<PyResult<_>>()?;
        let count = texts.len();
        let statuses = in_rows(&statuses)?;
        let words = self.words_per_simhash();
        let simhashes = match &simhashes {
            Some(simhashes) => in_rows(simhashes)?,
            None => &[],
        };
        let (signatures, size) = match &signatures {
            Some(signatures) => (in_rows(signatures)?, signatures.shape()[1]),
            None => (&[][..], 0),
        };
        let is_whole = statuses.len() == count && signatures.len() == count * size;
        if !is_whole || (words > 0 && simhashes.len() != count * words) || !self.layout.takes_signatures(size) {
            return Err(refused(Refused));
        }
        let units = texts.iter().map(|text| text.len() + self.layout.length() + 1).sum();
        let written = work::run(py, units, || {
            let (mut written, mut bytes) = (Vec::with_capacity(count * self.layout.length()), Vec::new());
            for (i, &text) in texts.iter().enumerate() {
                stop::look();
                let simhash = simhashes[i * words..(i + 1) * words].iter();
                let simhash = simhash.fold(0, |code, &word| code << 64 | u128::from(word));
                let signature = &signatures[i * size..(i + 1) * size];
                self.layout.append(text, simhash, signature, &mut bytes, &mut written)?;
            }
            String::from_utf8(written).map_err(|_| Refused)
        })?;
        let rows = (0..count).map(|i| &written[i * self.layout.length()..(i + 1) * self.layout.length()]);
        let made =
            work::each(py, rows.zip(statuses)).map(|pair| pair.and_then(|(row, &status)| self.fields(py, row, status)));
        made.collect()
    }

    /// Return the status, SimHash and signature of one text, and its fields. It is fingerprinted as it is when `stripped`.
    fn of_text<'py>(
        &self,
        fingerprinter: &Fingerprinter,
        stripped: &Bound<'py, PyString>,
        text: &Bound<'py, PyAny>,
    ) -> PyResult<(One<'py>, Bound<'py, PyDict>)> {
        let py = text.py();
        let made = fingerprinter.of_text(stripped)?;
        let (text, signature) = (Utf8::of(text.clone())?, &made.signatures);
        if !self.layout.takes_signatures(signature.len()) || made.simhashes.len() != self.words_per_simhash() {
            return Err(refused(Refused));
        }
        let (mut written, mut bytes) = (Vec::with_capacity(self.layout.length()), Vec::new());
        self.layout
            .append(text.bytes()?, made.simhash().unwrap_or(0), signature, &mut bytes, &mut written)
            .map_err(refused)?;
        let row = str::from_utf8(&written).map_err(|_| refused(Refused))?;
        let fields = self.fields(py, row, made.statuses[0])?;
        Ok((fingerprinter.one(py, &made), fields))
    }

    /// Return which of the objects of documents hold a whole fingerprint of the scheme; and of these the hashes of the
    /// contents, and as columns the SimHashes, the values that the keys of bands hold, and the signatures that are stored
    /// apart; and their similarities to a signature, estimated by a part of its values.
    #[pyo3(signature = (objects, signature = None))]
    fn read<'py>(&self, objects: &Bound<'py, PyList>, signature: Option<&[u8]>) -> PyResult<stored::Read<'py>> {
        let names = stored::Names { fields: &self.names, scheme: &self.scheme_name };
        stored::read(&self.layout, &names, self.scheme.bind(objects.py()), objects, signature)
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
        made.set_item(&self.status_name, self.statuses.get(usize::from(status)).ok_or_else(|| refused(Refused))?)?;
        Ok(made)
    }
}

/// The elements of an array that has one row after the other.
fn in_rows<'a, T: Element, D: Dimension>(array: &'a PyReadonlyArray<'_, T, D>) -> PyResult<&'a [T]> {
    let elements = array.as_slice().ok().filter(|_| array.is_c_contiguous());
    elements.ok_or_else(|| refused(Refused))
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
