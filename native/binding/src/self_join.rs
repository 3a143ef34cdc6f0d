//! The self-join of codes, table by table (see `es_simhash.sketches.in_memory`). Codes have one or two words.

use es_simhash_kernels::joins::near::{self, Near, Rule};
use es_simhash_kernels::joins::tables::{self, Hash};
use es_simhash_kernels::text;
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1, PyReadonlyArrayDyn};
use pyo3::prelude::*;

use crate::work;

/// Return the entries of codes whose hash of the chosen bits another one may share, in the order of their rows.
#[pyfunction]
pub fn sharing<'py>(
    codes: PyReadonlyArrayDyn<'py, u64>,
    chosen: PyReadonlyArray1<'py, u64>,
    factors: PyReadonlyArray1<'py, u64>,
) -> PyResult<Bound<'py, PyArray1<u64>>> {
    let (py, codes, chosen, factors) = (codes.py(), codes.as_slice()?, chosen.as_slice()?, factors.as_slice()?);
    let entries = work::run(py, codes.len(), || match (chosen, factors) {
        (&[mask], &[factor]) => Ok(tables::sharing(codes.as_chunks().0, Hash { mask: [mask], factors: [factor] })),
        (&[high, low], &[of_high, of_low]) => {
            Ok(tables::sharing(codes.as_chunks().0, Hash { mask: [high, low], factors: [of_high, of_low] }))
        }
        _ => Err(text::Refused),
    });
    Ok(entries?.into_pyarray(py))
}

type Pairs<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<u8>>, usize);

/// Return about `limit` pairs of rows of near codes, given sorted entries, from the one at `start` on, and the next one.
///
/// Pairs differ in no chosen bit, and in some bit of each block that was passed over.
#[pyfunction]
pub fn near_pairs<'py>(
    codes: PyReadonlyArrayDyn<'py, u64>,
    entries: PyReadonlyArray1<'py, u64>,
    start: usize,
    limit: usize,
    distance: u32,
    chosen: PyReadonlyArray1<'py, u64>,
    passed_over: PyReadonlyArrayDyn<'py, u64>,
) -> PyResult<Pairs<'py>> {
    let (py, codes, entries) = (codes.py(), codes.as_slice()?, entries.as_slice()?);
    let (chosen, passed_over) = (chosen.as_slice()?, passed_over.as_slice()?);
    let mut found = Near::default();
    // The entries that share their hash with the first one are all read.
    let next = work::run(py, entries.len().saturating_sub(start), || match *chosen {
        [word] => {
            let rule = Rule { distance, chosen: [word], passed_over: passed_over.as_chunks().0 };
            near::pairs(codes.as_chunks().0, entries, start, limit, &rule, &mut found)
        }
        [high, low] => {
            let rule = Rule { distance, chosen: [high, low], passed_over: passed_over.as_chunks().0 };
            near::pairs(codes.as_chunks().0, entries, start, limit, &rule, &mut found)
        }
        _ => Err(text::Refused),
    });
    let next = next?;
    Ok((found.left.into_pyarray(py), found.right.into_pyarray(py), found.distances.into_pyarray(py), next))
}
