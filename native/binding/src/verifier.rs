//! `Verifier`: the exact similarities of texts.

use es_simhash_kernels::compare::comparer::{Comparable, Comparer, Pair, Scratch};
use es_simhash_kernels::compare::conditions::Conditions;
use es_simhash_kernels::compare::kept::Kept;
use es_simhash_kernels::compare::measure::Measure;
use es_simhash_kernels::compare::weight_table::WeightTable;
use es_simhash_kernels::text::{Refused, Text};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};

use crate::fingerprinter::Fingerprinter;
use crate::settings::Idf;
use crate::texts::{Texts, refused};

/// Signals are answered after so many characters, or pairs.
const CHARACTERS: usize = 1 << 18;
const PAIRS: usize = 1 << 10;

type Hashes<'py> = PyReadonlyArray1<'py, u64>;
type Numbers<'py> = PyReadonlyArray1<'py, i64>;
type Floats<'py> = PyReadonlyArray1<'py, f64>;
type Similarities<'py> = Bound<'py, PyArray1<f64>>;

#[pyclass(frozen)]
pub struct Verifier {
    fingerprinter: Py<Fingerprinter>,
    comparer: Comparer,
}

#[pymethods]
impl Verifier {
    /// `weights` are an idf table: hashes, their weights, and that of all others. `conditions` are the least
    /// agreement of lengths, numbers and first lines.
    #[new]
    #[pyo3(signature = (fingerprinter, *, measure, weights, counts, common, conditions))]
    fn new(
        fingerprinter: Py<Fingerprinter>,
        measure: &str,
        weights: Option<Idf<'_>>,
        counts: bool,
        common: Option<Hashes<'_>>,
        conditions: (f64, f64, f64),
    ) -> PyResult<Self> {
        let measure = Measure::named(measure).ok_or_else(|| refused(Refused))?;
        let of_empty = if common.is_none() { 1.0 } else { 0.0 };
        let (lengths, numbers, first_lines) = conditions;
        let conditions = Conditions { lengths, numbers, first_lines };
        let weights = feature_weights(weights, common)?;
        Ok(Self { fingerprinter, comparer: Comparer { measure, weights, counts, of_empty, conditions } })
    }

    /// Return the similarity of each pair of texts, given by their positions; 0 if it is below `least`.
    fn similarities<'py>(
        &self,
        texts: &Bound<'py, PyList>,
        first: Numbers<'py>,
        second: Numbers<'py>,
        least: Floats<'py>,
    ) -> PyResult<Similarities<'py>> {
        let mut comparable = Vec::with_capacity(texts.len());
        self.each(texts, 1, |text| comparable.push(text))?;
        let pairs = read_pairs(first, second, least)?;
        let text = |number: i64| usize::try_from(number).ok().and_then(|place| comparable.get(place));
        compare(texts.py(), &self.comparer, text, &pairs)
    }

    /// Keep what is compared of texts, made by some threads, in about `limit` bytes.
    fn kept(this: Py<Self>, limit: usize, threads: usize) -> KeptTexts {
        KeptTexts { verifier: this, kept: Kept::default(), limit, threads }
    }
}

impl Verifier {
    /// Make what is compared of each text, by some threads.
    fn each(&self, texts: &Bound<'_, PyList>, threads: usize, mut put: impl FnMut(Comparable) + Send) -> PyResult<()> {
        let (py, settings) = (texts.py(), &self.fingerprinter.get().settings);
        let (mut scratches, mut arena, mut start) = (Vec::new(), Vec::new(), 0);
        scratches.resize_with(threads.max(1), Scratch::default);
        while start < texts.len() {
            let end = end_of_chunk(texts, start)?;
            let strings = Texts::of(&texts.get_slice(start, end))?;
            arena.clear();
            let read: Vec<Text<'_>> = strings.read(&mut arena)?;
            let made = py.detach(|| self.comparer.comparable_by_threads(settings, &read, &mut scratches));
            made.map_err(refused)?.into_iter().for_each(&mut put);
            py.check_signals()?;
            start = end;
        }
        Ok(())
    }
}

/// What is compared of many texts, by their numbers.
#[pyclass]
pub struct KeptTexts {
    verifier: Py<Verifier>,
    kept: Kept,
    limit: usize,
    threads: usize,
}

#[pymethods]
impl KeptTexts {
    /// Return which of these numbers have no text here.
    fn missing<'py>(&self, numbers: Numbers<'py>) -> Bound<'py, PyArray1<i64>> {
        let numbers_here = numbers.as_array();
        let missing = numbers_here.iter().copied().filter(|&number| self.kept.get(number).is_none());
        missing.collect::<Vec<_>>().into_pyarray(numbers.py())
    }

    /// Add texts with these numbers.
    fn put(&mut self, numbers: Numbers<'_>, texts: &Bound<'_, PyList>) -> PyResult<()> {
        let mut numbers = numbers.as_array().to_vec().into_iter();
        let kept = &mut self.kept;
        self.verifier.get().each(texts, self.threads, |text| {
            if let Some(number) = numbers.next() {
                kept.put(number, text);
            }
        })
    }

    /// Return the similarity of each pair of texts, given by their numbers; 0 if it is below `least`.
    fn similarities<'py>(
        &self,
        first: Numbers<'py>,
        second: Numbers<'py>,
        least: Floats<'py>,
    ) -> PyResult<Similarities<'py>> {
        let py = first.py();
        let pairs = read_pairs(first, second, least)?;
        compare(py, &self.verifier.get().comparer, |number| self.kept.get(number), &pairs)
    }

    /// Drop the texts that came first, as far as all take too much memory.
    fn make_room(&mut self) {
        self.kept.make_room(self.limit);
    }
}

/// Return what features weigh: those that are common nothing.
fn feature_weights(table: Option<Idf<'_>>, common: Option<Hashes<'_>>) -> PyResult<Option<WeightTable>> {
    if table.is_none() && common.is_none() {
        return Ok(None);
    }
    let mut hashes = common.map_or_else(Vec::new, |common| common.as_array().to_vec());
    hashes.sort_unstable();
    hashes.dedup();
    let mut weights = vec![0; hashes.len()];
    let mut others = 1;
    if let Some((table_hashes, table_weights, unseen)) = table {
        others = u32::try_from(unseen).map_err(|_| refused(Refused))?;
        let common = hashes.clone();
        for (&hash, &weight) in table_hashes.as_array().iter().zip(table_weights.as_array()) {
            if common.binary_search(&hash).is_err() {
                hashes.push(hash);
                weights.push(weight);
            }
        }
    }
    let mut filled = WeightTable::default();
    filled.fill(&hashes, &weights, others);
    Ok(Some(filled))
}

/// Return the end of a chunk of texts that signals can wait for.
fn end_of_chunk(texts: &Bound<'_, PyList>, start: usize) -> PyResult<usize> {
    let mut characters = 0;
    for place in start..texts.len() {
        characters += texts.get_item(place)?.cast::<PyString>().map_err(|_| refused(Refused))?.len()?;
        if characters >= CHARACTERS {
            return Ok(place + 1);
        }
    }
    Ok(texts.len())
}

/// A pair of texts by their numbers, and its position among all.
struct Numbered {
    first: i64,
    second: i64,
    least: f64,
    place: usize,
}

/// Return the pairs, those with the same first text together.
fn read_pairs(first: Numbers<'_>, second: Numbers<'_>, least: Floats<'_>) -> PyResult<Vec<Numbered>> {
    let (first, second, least) = (first.as_array(), second.as_array(), least.as_array());
    if first.len() != second.len() || first.len() != least.len() {
        return Err(refused(Refused));
    }
    let all = first.iter().zip(second).zip(least).enumerate();
    let mut pairs: Vec<Numbered> =
        all.map(|(place, ((&first, &second), &least))| Numbered { first, second, least, place }).collect();
    pairs.sort_by_key(|pair| pair.first);
    Ok(pairs)
}

/// Compare pairs of the texts that `text` returns by their numbers.
fn compare<'py, 'a>(
    py: Python<'py>,
    comparer: &Comparer,
    text: impl Fn(i64) -> Option<&'a Comparable>,
    pairs: &[Numbered],
) -> PyResult<Similarities<'py>> {
    let mut found = vec![0.0; pairs.len()];
    for some in pairs.chunks(PAIRS) {
        let with_texts = some
            .iter()
            .map(|pair| Some(Pair { first: text(pair.first)?, second: text(pair.second)?, least: pair.least }));
        let with_texts = with_texts.collect::<Option<Vec<_>>>().ok_or_else(|| refused(Refused))?;
        for (pair, similarity) in some.iter().zip(py.detach(|| comparer.compare(&with_texts))) {
            found[pair.place] = similarity;
        }
        py.check_signals()?;
    }
    Ok(found.into_pyarray(py))
}
