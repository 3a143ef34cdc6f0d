//! Near-duplicates among the hits of a search.

use es_simhash_kernels::joins::folding::{Bounds, Rows};
use es_simhash_kernels::text::Refused;
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray2, PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::prelude::*;

use crate::texts::refused;
use crate::work;

/// Rows, rows before them, their distances and estimates.
type Pairs<'py> = (
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<i64>>,
    Option<Bound<'py, PyArray1<i64>>>,
    Bound<'py, PyArray1<f64>>,
);

/// Return the pairs of a row from `start` on and one before it that may be near: within a distance of their SimHashes, or
/// from an estimate by the lowest `value_bits` bits of their values on. Once as many rows as are `wanted` are near none,
/// later ones are compared with those before the last of these only.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub fn plausible_pairs<'py>(
    py: Python<'py>,
    simhashes: Option<PyReadonlyArrayDyn<'py, u64>>,
    values: Option<PyReadonlyArray2<'py, u32>>,
    start: usize,
    wanted: Option<usize>,
    distance: u32,
    least: f64,
    value_bits: u32,
) -> PyResult<Pairs<'py>> {
    let counts = [simhashes.as_ref().map(|array| array.shape()[0]), values.as_ref().map(|array| array.shape()[0])];
    let count = counts.iter().flatten().copied().next().unwrap_or(0);
    if counts.iter().flatten().any(|&other| other != count) || value_bits >= u32::BITS || count == 0 {
        return Err(refused(Refused));
    }
    let rows = Rows {
        count,
        simhashes: simhashes.as_ref().map_or(Ok(&[][..]), |array| array.as_slice())?,
        values: values.as_ref().map_or(Ok(&[][..]), |array| array.as_slice())?,
        value_bits,
    };
    let found = work::run(py, count * count, || Ok(rows.plausible(start, wanted, &Bounds { distance, least })))?;
    let column = |of: fn(&_) -> i64| found.iter().map(of).collect::<Vec<_>>().into_pyarray(py);
    Ok((
        column(|pair| pair.first as i64),
        column(|pair| pair.second as i64),
        simhashes.is_some().then(|| column(|pair| pair.distance.into())),
        found.iter().map(|pair| pair.estimate).collect::<Vec<_>>().into_pyarray(py),
    ))
}
