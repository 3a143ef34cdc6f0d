//! Joins: from keys to pairs.

use es_simhash_kernels::joins::contents::append_hash;
use es_simhash_kernels::joins::entries::KeyHashes;
use es_simhash_kernels::joins::{components, links, rows};
use es_simhash_kernels::{stop, text};
use numpy::ndarray::ArrayView2;
use numpy::{
    Element, IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArray,
};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

use crate::texts::Refused;
use crate::utf8::Utf8;
use crate::work;

/// Texts in UTF-8, one after the other, and where each ends.
type Encoded<'py> = (Bound<'py, PyBytes>, Bound<'py, PyArray1<i64>>);

/// Return texts in UTF-8.
#[pyfunction]
pub fn utf8_of<'py>(texts: &Bound<'py, PyList>) -> PyResult<Encoded<'py>> {
    let py = texts.py();
    let texts = work::each(py, texts).map(|text| Utf8::of(text?)).collect::<PyResult<Vec<_>>>()?;
    let texts = texts.iter().map(Utf8::bytes).collect::<PyResult<Vec<_>>>()?;
    let mut length = 0;
    let ends = texts.iter().map(|text| {
        length += text.len();
        length as i64
    });
    let ends: Vec<i64> = ends.collect();
    let data = PyBytes::new_with(py, length, |mut rest| {
        for text in work::each(py, texts) {
            let text = text?;
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
    let words = work::run(py, data.len().saturating_add(ends.len()), || {
        let mut words = Vec::with_capacity(2 * ends.len());
        for (&start, &end) in std::iter::once(&0).chain(ends).zip(ends) {
            stop::look();
            append_hash(data.get(start as usize..end as usize).ok_or(text::Refused)?, &mut words);
        }
        Ok(words)
    });
    words?.into_pyarray(py).reshape([ends.len(), 2])
}

/// Return the words to sort, for keys that are rows of unsigned numbers.
#[pyfunction]
pub fn entries<'py>(
    keys: &Bound<'py, PyUntypedArray>,
    factors: PyReadonlyArray1<'py, u64>,
    first: u64,
    kept: Option<PyReadonlyArray1<'py, bool>>,
) -> PyResult<Bound<'py, PyArray1<u64>>> {
    let factors = factors.as_slice()?;
    let kept = kept.as_ref().map(|kept| kept.as_slice()).transpose()?;
    let entries = entries_of::<u8>(keys, factors, first, kept)
        .or_else(|| entries_of::<u16>(keys, factors, first, kept))
        .or_else(|| entries_of::<u32>(keys, factors, first, kept))
        .or_else(|| entries_of::<u64>(keys, factors, first, kept));
    Ok(entries.ok_or_else(|| Refused::new_err(()))??.into_pyarray(keys.py()))
}

/// Make the entries of keys if they have this type.
fn entries_of<'py, T: Element + Copy + Sync + Into<u64>>(
    keys: &Bound<'py, PyUntypedArray>,
    factors: &[u64],
    first: u64,
    kept: Option<&[bool]>,
) -> Option<PyResult<Vec<u64>>> {
    let py = keys.py();
    let keys: PyReadonlyArray2<'py, T> = keys.cast::<PyArray2<T>>().ok()?.readonly();
    let keys = keys.as_array();
    Some(work::run(py, keys.len(), || Ok(hashes_of(keys, factors).entries(first, kept))))
}

fn hashes_of<T: Copy + Into<u64>>(keys: ArrayView2<'_, T>, factors: &[u64]) -> KeyHashes {
    let mut hashes = KeyHashes::of(keys.nrows());
    for (column, &factor) in keys.columns().into_iter().zip(factors) {
        match column.to_slice() {
            Some(numbers) => hashes.add(numbers.iter().map(|&number| number.into()), factor),
            None => hashes.add(column.iter().map(|&number| number.into()), factor),
        }
    }
    hashes
}

/// Return all numbers of some arrays in ascending order.
///
/// They are copied first: another thread may change the arrays in the meantime.
#[pyfunction]
pub fn sorted_together<'py>(
    py: Python<'py>,
    parts: Vec<PyReadonlyArray1<'py, u64>>,
) -> PyResult<Bound<'py, PyArray1<u64>>> {
    let parts = parts.iter().map(|part| part.as_slice()).collect::<Result<Vec<_>, _>>()?;
    let mut numbers = parts.concat();
    work::run(py, numbers.len().saturating_mul(PASSES), || {
        stop::sort(&mut numbers);
        Ok(numbers)
    })
    .map(|numbers| numbers.into_pyarray(py))
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
        let read = work::run(piece.py(), 0, || Ok(self.linker.link(entries, limit, &mut self.codes)))?;
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

/// How often the pairs are read that places are found for, or how much longer a step for a pair takes.
const PASSES: usize = 4;

type Places<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<u32>>);

/// Return the documents of pairs given as numbers, each once, and the places of both sides of each pair among these.
///
/// The pairs are copied: they are read several times, and another thread may change the array in the meantime.
#[pyfunction]
pub fn places<'py>(codes: PyReadonlyArray1<'py, u64>) -> PyResult<Places<'py>> {
    let (py, codes) = (codes.py(), codes.to_vec()?);
    let found = work::run(py, codes.len().saturating_mul(PASSES), || Ok(rows::places(&codes)))?;
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
    Ok(counts.ok_or_else(|| Refused::new_err(()))??.into_pyarray(values.py()))
}

type Count<T> = fn(&[T], usize, &[u32], &[u32], T, &mut Vec<u32>);

/// Count agreements if values have this type, and all rows exist.
fn agreements_of<T: Element + Copy + Sync>(
    values: &Bound<'_, PyUntypedArray>,
    (first, second): (&[u32], &[u32]),
    mask: T,
    count: Count<T>,
) -> Option<PyResult<Vec<u32>>> {
    let py = values.py();
    let values = values.cast::<PyArray2<T>>().ok()?.readonly();
    let (size, rows) = (values.as_array().ncols(), values.as_array().nrows());
    let numbers = values.as_slice().ok()?;
    Some(work::run(py, first.len().saturating_mul(size.max(1)), || {
        let mut counts = Vec::with_capacity(first.len());
        let at_once = (stop::FEW / size.max(1)).max(1);
        for (first, second) in first.chunks(at_once).zip(second.chunks(at_once)) {
            stop::look();
            if first.iter().chain(second).any(|&row| row as usize >= rows) {
                return Err(text::Refused);
            }
            count(numbers, size, first, second, mask, &mut counts);
        }
        Ok(counts)
    }))
}

/// Documents in components that pairs link.
#[pyclass]
pub struct Components {
    components: components::Components,
}

#[pymethods]
impl Components {
    #[new]
    fn new(py: Python<'_>, count: u32) -> PyResult<Self> {
        let components = work::run(py, count as usize, || Ok(components::Components::of(count)))?;
        Ok(Self { components })
    }

    /// Put the documents of each pair into one component.
    fn union<'py>(&mut self, first: PyReadonlyArray1<'py, u32>, second: PyReadonlyArray1<'py, u32>) -> PyResult<()> {
        let (py, first, second) = (first.py(), first.as_slice()?, second.as_slice()?);
        work::run(py, first.len().saturating_mul(PASSES), || {
            let count = self.components.count();
            let are_below = |documents: &[u32]| documents.iter().all(|&document| document < count);
            if !stop::parts(first).all(are_below) || !stop::parts(second).all(are_below) {
                return Err(text::Refused);
            }
            self.components.union(first.iter().copied().zip(second.iter().copied()));
            Ok(())
        })
    }

    /// Return the first document of each one's component.
    fn firsts<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<u32>>> {
        let firsts = work::run(py, self.components.count() as usize, || {
            let mut firsts = Vec::new();
            stop::extend(&mut firsts, self.components.firsts().iter().copied());
            Ok(firsts)
        });
        Ok(firsts?.into_pyarray(py))
    }
}
