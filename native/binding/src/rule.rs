//! The rule, for the hits of a search.

use es_simhash_kernels::compare::conditions::Agreement;
use es_simhash_kernels::compare::rule::{Clause, Crowding, Near, Rule};
use es_simhash_kernels::text::Refused;
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;

use crate::texts::refused;

/// The place of a near hit, its clause, and whether that is settled.
type Verdict = (usize, u8, bool);

/// Return the verdicts on the hits that are near, and how many others are crowded. `criteria` are the most distance, the
/// least similarity and, if surroundings count, how numbers lower it, `nearest` and `copies`; `surroundings` the product
/// of the best similarities, how much more the crowd around both texts asks for, and that around the text alone.
#[pyfunction]
#[allow(clippy::type_complexity)]
pub fn verdicts(
    criteria: (Option<i64>, Option<f64>, Option<(f64, f64, f64)>),
    surroundings: (f64, f64, f64),
    distances: Option<PyReadonlyArray1<'_, i64>>,
    similarities: PyReadonlyArray1<'_, f64>,
    agreements: PyReadonlyArray1<'_, u8>,
    same_texts: Vec<bool>,
) -> PyResult<(Vec<Verdict>, usize)> {
    let (distance, similarity, crowding) = criteria;
    let crowding = crowding.map(|(lowering, nearest, copies)| Crowding { lowering, nearest, copies });
    let rule = Rule { distance, similarity, crowding };
    let (best, more, own_more) = surroundings;
    let (similarities, agreements) = (similarities.as_array(), agreements.as_array());
    let distances = distances.as_ref().map(|distances| distances.as_array());
    let count = similarities.len();
    let is_fit = agreements.len() == count && same_texts.len() == count;
    if !is_fit || distances.is_some_and(|distances| distances.len() != count) {
        return Err(refused(Refused));
    }
    let (mut found, mut crowded) = (Vec::new(), 0);
    for (place, is_same) in same_texts.into_iter().enumerate() {
        let agreement = Agreement::numbered(agreements[place]).ok_or_else(|| refused(Refused))?;
        let distance = distances.map(|distances| distances[place]);
        let near = Near { distance, similarity: similarities[place], agreement, best, more };
        let clause = rule.clause(&near);
        if clause < Clause::Crowded {
            let clause = if is_same { Clause::Equal } else { clause };
            found.push((place, clause as u8, rule.is_settled(clause, &near, own_more)));
        }
        crowded += usize::from(clause == Clause::Crowded);
    }
    Ok((found, crowded))
}
