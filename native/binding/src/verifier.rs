//! `Verifier`: the exact similarities of texts.

use es_simhash_kernels::compare::comparer::{Comparable, Comparer, Held, Pair, Scratch};
use es_simhash_kernels::compare::feature_weights::FeatureWeights;
use es_simhash_kernels::compare::kept::Kept;
use es_simhash_kernels::compare::measure::Measure;
use es_simhash_kernels::compare::weight_table::WeightTable;
use es_simhash_kernels::stop;
use es_simhash_kernels::text::{Refused, Text};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};

use crate::fingerprinter::Fingerprinter;
use crate::settings::Idf;
use crate::texts::{Texts, refused};
use crate::work;

/// Signals are answered after this many characters, or pairs.
const CHARACTERS: usize = 1 << 18;
const PAIRS: usize = 1 << 10;
/// So much longer a look-up takes than a character.
const PASSES: usize = 16;

type Numbers<'py> = PyReadonlyArray1<'py, i64>;
type Floats<'py> = PyReadonlyArray1<'py, f64>;
/// A text, others, and the similarity from which each counts.
type Wanted<'py> = (Bound<'py, PyAny>, Bound<'py, PyList>, Floats<'py>);
/// Similarities, and whether texts share enough numbers.
type Measures<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<bool>>);

#[pyclass(frozen)]
pub struct Verifier {
    fingerprinter: Py<Fingerprinter>,
    comparer: Comparer,
}

#[pymethods]
impl Verifier {
    /// `weights` are a table: keys of `key_bits` bits, with which hashes begin, their weights, and that of all others.
    /// `numbers` is the least share of the numbers of the text with fewer that the other has.
    #[new]
    #[allow(clippy::too_many_arguments)]
    #[pyo3(signature = (fingerprinter, *, measure, weights, key_bits, counts, numbers))]
    fn new(
        py: Python<'_>,
        fingerprinter: Py<Fingerprinter>,
        measure: &str,
        weights: Option<Idf<'_>>,
        key_bits: u32,
        counts: bool,
        numbers: f64,
    ) -> PyResult<Self> {
        let measure = Measure::named(measure).ok_or_else(|| refused(Refused))?;
        let weights = feature_weights(py, weights, key_bits)?;
        Ok(Self { fingerprinter, comparer: Comparer { measure, weights, counts, numbers } })
    }

    /// Return the similarity of each pair of texts, given by their positions: 0 if it is below `least`; and
    /// whether the texts share enough numbers.
    fn measures<'py>(
        &self,
        texts: &Bound<'py, PyList>,
        first: Numbers<'py>,
        second: Numbers<'py>,
        least: Floats<'py>,
    ) -> PyResult<Measures<'py>> {
        let mut comparable = Vec::with_capacity(texts.len());
        self.each(texts, 1, |text| comparable.push(text))?;
        let pairs = read_pairs(texts.py(), &first, &second, &least)?;
        let text = |number: i64| usize::try_from(number).ok().and_then(|place| comparable.get(place));
        compare(texts.py(), &self.comparer, text, &pairs, pairs.numbered.len())
    }

    /// Measure each text and the others, None for what is not known, as `measures` does; these have the similarity NaN.
    fn to_others<'py>(&self, wanted: Vec<Wanted<'py>>, py: Python<'py>) -> PyResult<Vec<Measures<'py>>> {
        let (numbers, texts) = (PyDict::new(py), PyList::empty(py));
        let number = |text: Bound<'py, PyAny>| -> PyResult<i64> {
            if let Some(number) = numbers.get_item(&text)? {
                return number.extract();
            }
            numbers.set_item(&text, texts.len())?;
            texts.append(text)?;
            Ok(texts.len() as i64 - 1)
        };
        let mut pairs = Vec::with_capacity(wanted.len());
        for (text, others, least) in work::each(py, &wanted).collect::<PyResult<Vec<_>>>()? {
            let (first, least) = (number(text.clone())?, least.as_array());
            if least.len() != others.len() {
                return Err(refused(Refused));
            }
            let mut own = Vec::with_capacity(others.len());
            for (place, other) in work::each(py, others).enumerate() {
                let other = other?;
                if !other.is_none() {
                    own.push(Numbered { first, second: number(other)?, least: least[place], place });
                }
            }
            pairs.push(Pairs { numbered: own, held: Held::First });
        }
        let mut comparable = Vec::with_capacity(texts.len());
        self.each(&texts, 1, |text| comparable.push(text))?;
        let text = |number: i64| usize::try_from(number).ok().and_then(|place| comparable.get(place));
        let measures = wanted.iter().zip(pairs);
        measures.map(|((_, others, _), own)| compare(py, &self.comparer, text, &own, others.len())).collect()
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
            let read: Vec<Text<'_>> = strings.read(py, &mut arena)?;
            let made = work::run(py, read.iter().map(Text::len).sum(), || {
                self.comparer.comparable_by_threads(settings, &read, &mut scratches)
            });
            made?.into_iter().for_each(&mut put);
            py.check_signals()?;
            start = end;
        }
        Ok(())
    }
}

/// The parts of many texts that are compared, by the number of the text.
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
    fn missing<'py>(&self, numbers: Numbers<'py>) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let numbers_here = numbers.as_array();
        let missing = work::run(numbers.py(), numbers_here.len().saturating_mul(PASSES), || {
            let numbers = numbers_here.iter().copied().enumerate().inspect(|&(place, _)| stop::look_at(place));
            let missing = numbers.map(|(_, number)| number).filter(|&number| self.kept.get(number).is_none());
            Ok(missing.collect::<Vec<_>>())
        });
        Ok(missing?.into_pyarray(numbers.py()))
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

    /// Return the similarity of each pair of texts, given by their numbers; see `Verifier.measures`.
    fn measures<'py>(&self, first: Numbers<'py>, second: Numbers<'py>, least: Floats<'py>) -> PyResult<Measures<'py>> {
        let py = first.py();
        let pairs = read_pairs(py, &first, &second, &least)?;
        compare(py, &self.verifier.get().comparer, |number| self.kept.get(number), &pairs, pairs.numbered.len())
    }

    /// Drop the texts that came first, as far as all take too much memory.
    fn make_room(&mut self) {
        self.kept.make_room(self.limit);
    }
}

/// Return what features weigh: as a table says by the keys of `key_bits` that begin their hashes.
fn feature_weights(py: Python<'_>, table: Option<Idf<'_>>, key_bits: u32) -> PyResult<FeatureWeights> {
    let shift = u64::BITS.checked_sub(key_bits).filter(|&shift| shift < u64::BITS).ok_or_else(|| refused(Refused))?;
    let Some((hashes, weights, unseen)) = &table else { return Ok(FeatureWeights::default()) };
    let (hashes, weights) = (hashes.as_slice()?, weights.as_slice()?);
    let others = u32::try_from(*unseen).map_err(|_| refused(Refused))?;
    work::run(py, hashes.len().saturating_mul(PASSES), || {
        let mut table = WeightTable::default();
        table.fill(hashes, weights, others);
        Ok(FeatureWeights { table: Some(table), shift })
    })
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

/// Pairs, those with the same held text together.
struct Pairs {
    numbered: Vec<Numbered>,
    held: Held,
}

/// Return the pairs, with the fewer texts held.
fn read_pairs(py: Python<'_>, first: &Numbers<'_>, second: &Numbers<'_>, least: &Floats<'_>) -> PyResult<Pairs> {
    let (first, second, least) = (first.as_array(), second.as_array(), least.as_array());
    if first.len() != second.len() || first.len() != least.len() {
        return Err(refused(Refused));
    }
    work::run(py, first.len().saturating_mul(PASSES), || {
        let [by_first, by_second] = [first, second].map(|numbers| {
            let mut order = Vec::new();
            stop::extend(&mut order, numbers.iter().copied().zip(0..numbers.len()));
            stop::sort::<(i64, usize)>(&mut order);
            order
        });
        let texts = |order: &[(i64, usize)]| order.chunk_by(|a, b| a.0 == b.0).count();
        let (order, held) = match texts(&by_second) < texts(&by_first) {
            true => (by_second, Held::Second),
            false => (by_first, Held::First),
        };
        let mut numbered = Vec::new();
        let pair = |(_, place)| Numbered { first: first[place], second: second[place], least: least[place], place };
        stop::extend(&mut numbered, order.into_iter().map(pair));
        Ok(Pairs { numbered, held })
    })
}

/// Compare pairs of the texts that `text` returns by their numbers; of `count` similarities, others stay NaN.
fn compare<'py, 'a>(
    py: Python<'py>,
    comparer: &Comparer,
    text: impl Fn(i64) -> Option<&'a Comparable>,
    pairs: &Pairs,
    count: usize,
) -> PyResult<Measures<'py>> {
    let (mut similarities, mut meets) = (vec![f64::NAN; count], vec![true; count]);
    for some in pairs.numbered.chunks(PAIRS) {
        let with_texts = some
            .iter()
            .map(|pair| Some(Pair { first: text(pair.first)?, second: text(pair.second)?, least: pair.least }));
        let with_texts = with_texts.collect::<Option<Vec<_>>>().ok_or_else(|| refused(Refused))?;
        let features = with_texts.iter().map(|pair| pair.first.features() + pair.second.features()).sum();
        let measured = work::run(py, features, || Ok(comparer.compare(&with_texts, pairs.held)))?;
        for (pair, measured) in some.iter().zip(measured) {
            (similarities[pair.place], meets[pair.place]) = (measured.similarity, measured.meets);
        }
        py.check_signals()?;
    }
    Ok((similarities.into_pyarray(py), meets.into_pyarray(py)))
}
