//! Replies to searches, whose hits become Python's objects only as far as they are wanted.

use es_simhash_kernels::json::replies::{Hit, Reply};
use es_simhash_kernels::json::values::members_at;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString};

use super::objects::dictionary;
use crate::texts::refused;
use crate::work;

/// Return what `json.loads` makes of the reply to a search, but for its usual hits.
///
/// Such a hit is a tuple: index, id, routing, sequence number, primary term, the text in fields, and the object under
/// a prefix, if there is one. The last hit stays whole, since the next page begins behind it.
#[pyfunction]
pub fn search_reply<'py>(
    json: &Bound<'py, PyBytes>,
    fields: Vec<String>,
    prefix: &str,
) -> PyResult<Bound<'py, PyDict>> {
    let (py, bytes) = (json.py(), json.as_bytes());
    let reply = work::run(py, bytes.len(), || Reply::read(bytes))?;
    let fields: Vec<&str> = fields.iter().map(String::as_str).collect();
    let hits = PyList::empty(py);
    if let Some((last, others)) = reply.hits.split_last() {
        let mut names = Names { py, last: None };
        for hit in work::each(py, others) {
            hits.append(object(py, bytes, hit?, &fields, prefix, &mut names)?)?;
        }
        hits.append(dictionary(py, bytes, &last.members)?)?;
    }
    let about_hits = dictionary(py, bytes, &reply.about_hits)?;
    about_hits.set_item("hits", hits)?;
    let whole = dictionary(py, bytes, &reply.members)?;
    whole.set_item("hits", about_hits)?;
    Ok(whole)
}

fn object<'py, 'a>(
    py: Python<'py>,
    json: &'a [u8],
    hit: &Hit,
    fields: &[&str],
    prefix: &str,
    names: &mut Names<'py, 'a>,
) -> PyResult<Bound<'py, PyAny>> {
    let Some(found) = hit.text_hit(json, fields, prefix) else {
        return Ok(dictionary(py, json, &hit.members)?.into_any());
    };
    let parts = (
        names.of(found.index)?,
        PyString::from_bytes(py, found.id)?,
        found.routing.map(|routing| PyString::from_bytes(py, routing)).transpose()?,
        found.seq_no,
        found.primary_term,
        PyString::from_bytes(py, &found.text)?,
        found.own.map(|own| dictionary(py, json, &members_at(json, &own).map_err(refused)?)).transpose()?,
    );
    Ok(parts.into_pyobject(py)?.into_any())
}

/// Names of indices, which are those of the hits before, nearly always.
struct Names<'py, 'a> {
    py: Python<'py>,
    last: Option<(&'a [u8], Bound<'py, PyString>)>,
}

impl<'py, 'a> Names<'py, 'a> {
    fn of(&mut self, name: &'a [u8]) -> PyResult<Bound<'py, PyString>> {
        if let Some((last, string)) = &self.last
            && *last == name
        {
            return Ok(string.clone());
        }
        let string = PyString::from_bytes(self.py, name)?;
        self.last = Some((name, string.clone()));
        Ok(string)
    }
}
