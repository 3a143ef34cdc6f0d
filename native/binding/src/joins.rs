//! Joins: from keys to pairs.

use es_simhash_kernels::joins::contents::append_hash;
use es_simhash_kernels::joins::entries::KeyHashes;
use es_simhash_kernels::joins::{components, links, rows};
use numpy::{
    Element, IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArray,
};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

use crate::fields::{encoded, utf8};
use crate::texts::Refused;

/// Texts in UTF-8, one after the other, and where each ends.
type Encoded<'py> = (Bound<'py, PyBytes>, Bound<'py, PyArray1<i64>>);

/// Return texts in UTF-8.
#[pyfunction]
pub fn utf8_of<'py>(texts: &Bound<'py, PyList>) -> PyResult<Encoded<'py>> {
    let py = texts.py();
    let texts = texts.iter().map(encoded).collect::<PyResult<Vec<_>>>()?;
    let texts = texts.iter().map(utf8).collect::<PyResult<Vec<_>>>()?;
    let mut length = 0;
    let ends = texts.iter().map(|text| {
        length += text.len();
        length as i64
    });
    let ends: Vec<i64> = ends.collect();
    let data = PyBytes::new_with(py, length, |mut rest| {
        for text in texts {
            rest.split_off_mut(..text.len()).into_iter().for_each(|place| place.copy_from_slice(text));
        }
        Ok(())
    })?;
    Ok((data, ends.into_pyarray(py)))
}

/// Return the hashes by which equal texts are found, two words a text, given what `utf8_of` returns.
#[pyfunction]
pub fn contents<'py>(
    data: &Bound<'py, PyBytes>,
    ends: PyReadonlyArray1<'py, i64>,
) -> PyResult<Bound<'py, PyArray2<u64>>> {
    let (py, data, ends) = (data.py(), data.as_bytes(), ends.as_slice()?);
    let mut words = Vec::with_capacity(2 * ends.len());
    let starts = std::iter::once(&0).chain(ends);
    let all_hashed = py.detach(|| {
        let mut texts = starts.zip(ends).map(|(&start, &end)| data.get(start as usize..end as usize));
        texts.try_for_each(|text| text.map(|text| append_hash(text, &mut words)))
    });
    all_hashed.ok_or_else(|| Refused::new_err(()))?;
    words.into_pyarray(py).reshape([ends.len(), 2])
}

/// Return the words to sort, for keys that are rows of unsigned numbers.
#[pyfunction]
pub fn entries<'py>(
    keys: &Bound<'py, PyUntypedArray>,
    factors: PyReadonlyArray1<'py, u64>,
    first: u64,
    kept: Option<PyReadonlyArray1<'py, bool>>,
) -> PyResult<Bound<'py, PyArray1<u64>>> {
    let hashes = hashes_of::<u8>(keys, &factors)
        .or_else(|| hashes_of::<u16>(keys, &factors))
        .or_else(|| hashes_of::<u32>(keys, &factors))
        .or_else(|| hashes_of::<u64>(keys, &factors))
        .ok_or_else(|| Refused::new_err(()))?;
    let kept = kept.as_ref().map(|kept| kept.as_slice()).transpose()?;
    Ok(hashes.entries(first, kept).into_pyarray(keys.py()))
}

/// Hash keys if they have this type.
fn hashes_of<'py, T: Element + Copy + Into<u64>>(
    keys: &Bound<'py, PyUntypedArray>,
    factors: &PyReadonlyArray1<'py, u64>,
) -> Option<KeyHashes> {
    let keys: PyReadonlyArray2<'py, T> = keys.cast::<PyArray2<T>>().ok()?.readonly();
    let keys = keys.as_array();
    let mut hashes = KeyHashes::of(keys.nrows());
    for (column, &factor) in keys.columns().into_iter().zip(factors.as_array()) {
        match column.to_slice() {
            Some(numbers) => hashes.add(numbers.iter().map(|&number| number.into()), factor),
            None => hashes.add(column.iter().map(|&number| number.into()), factor),
        }
    }
    Some(hashes)
}

/// Pairs documents that share a key, given the sorted entries of a table in pieces.
#[pyclass]
pub struct Linker {
    linker: links::Linker,
    /// Pairs about to be returned: memory that is used again.
    codes: Vec<u64>,
}

#[pymethods]
impl Linker {
    #[new]
    fn new(all: usize, few: usize, most: Option<usize>, hot_from: u64) -> Self {
        Self { linker: links::Linker::new(all, few, most, hot_from), codes: Vec::new() }
    }

    /// Return about `limit` pairs of a piece's entries from `start` on, as numbers, and the first entry not read.
    fn pairs<'py>(
        &mut self,
        piece: PyReadonlyArray1<'py, u64>,
        start: usize,
        limit: usize,
    ) -> PyResult<(Bound<'py, PyArray1<u64>>, usize)> {
        let entries = piece.as_slice()?.get(start..).unwrap_or_default();
        self.codes.clear();
        let read = piece.py().detach(|| self.linker.link(entries, limit, &mut self.codes));
        Ok((PyArray1::from_slice(piece.py(), &self.codes), start + read))
    }

    /// Return the keys of at least `hot_from` documents, once all entries are read: their numbers, and the last entry.
    fn hot_keys<'py>(&mut self, py: Python<'py>) -> (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<u64>>) {
        self.linker.end();
        let (sizes, last): (Vec<_>, Vec<_>) = self.linker.hot.drain(..).map(|(size, last)| (size as i64, last)).unzip();
        (sizes.into_pyarray(py), last.into_pyarray(py))
    }

    #[getter]
    fn left_out(&self) -> u64 {
        self.linker.left_out
    }

    #[getter]
    fn cut_off(&self) -> u64 {
        self.linker.cut_off
    }
}

type Places<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<u32>>);

/// Return the documents of pairs given as numbers, each once, and the places of both sides of each pair among these.
#[pyfunction]
pub fn places<'py>(codes: PyReadonlyArray1<'py, u64>) -> PyResult<Places<'py>> {
    let (py, codes) = (codes.py(), codes.as_slice()?);
    let found = py.detach(|| rows::places(codes));
    Ok((found.documents.into_pyarray(py), found.first.into_pyarray(py), found.second.into_pyarray(py)))
}

/// Return, for each pair of rows, at how many places their values have the same lowest bits.
#[pyfunction]
pub fn agreements<'py>(
    values: &Bound<'py, PyUntypedArray>,
    first: PyReadonlyArray1<'py, u32>,
    second: PyReadonlyArray1<'py, u32>,
    bits: u32,
) -> PyResult<Bound<'py, PyArray1<u32>>> {
    let mask = u32::MAX.checked_shr(u32::BITS.saturating_sub(bits)).unwrap_or_default();
    let pairs = (first.as_slice()?, second.as_slice()?);
    let counts = agreements_of(values, pairs, mask as u8, rows::agreements_u8)
        .or_else(|| agreements_of(values, pairs, mask as u16, rows::agreements_u16))
        .or_else(|| agreements_of(values, pairs, mask, rows::agreements_u32));
    Ok(counts.ok_or_else(|| Refused::new_err(()))?.into_pyarray(values.py()))
}

type Count<T> = fn(&[T], usize, &[u32], &[u32], T, &mut Vec<u32>);

/// Count agreements if values have this type, and all rows exist.
fn agreements_of<T: Element + Copy>(
    values: &Bound<'_, PyUntypedArray>,
    (first, second): (&[u32], &[u32]),
    mask: T,
    count: Count<T>,
) -> Option<Vec<u32>> {
    let values = values.cast::<PyArray2<T>>().ok()?.readonly();
    let (size, rows) = (values.as_array().ncols(), values.as_array().nrows());
    let numbers = values.as_slice().ok()?;
    if first.iter().chain(second).any(|&row| row as usize >= rows) {
        return None;
    }
    let mut counts = Vec::with_capacity(first.len());
    values.py().detach(|| count(numbers, size, first, second, mask, &mut counts));
    Some(counts)
}

/// Documents in components that pairs link.
#[pyclass]
pub struct Components {
    components: components::Components,
}

#[pymethods]
impl Components {
    #[new]
    fn new(count: u32) -> Self {
        Self { components: components::Components::of(count) }
    }

    /// Put the documents of each pair into one component.
    fn union<'py>(&mut self, first: PyReadonlyArray1<'py, u32>, second: PyReadonlyArray1<'py, u32>) -> PyResult<()> {
        let (py, first, second) = (first.py(), first.as_slice()?, second.as_slice()?);
        if first.iter().chain(second).any(|&document| document >= self.components.count()) {
            return Err(Refused::new_err(()));
        }
        py.detach(|| self.components.union(first.iter().copied().zip(second.iter().copied())));
        Ok(())
    }

    /// Return the first document of each one's component.
    fn firsts<'py>(&mut self, py: Python<'py>) -> Bound<'py, PyArray1<u32>> {
        PyArray1::from_slice(py, py.detach(|| self.components.firsts()))
    }
}
