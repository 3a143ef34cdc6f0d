//! Replies to searches, whose hits become Python's objects only as far as they are wanted.

use std::mem::take;

use es_simhash_kernels::json::replies::{Hit, Reply};
use es_simhash_kernels::json::values::members_at;
use es_simhash_kernels::text as kernels;
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString};

use super::objects::{dictionary, object as any};
use crate::texts::{Refused, refused};
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
    whole(py, bytes, &reply, hits.as_any())
}

/// Return what `json.loads` makes of the reply to a search, but for its hits, which are read as they are asked for.
///
/// A reply with an unusual hit is refused.
#[pyfunction]
pub fn search_hits<'py>(json: &Bound<'py, PyBytes>) -> PyResult<Bound<'py, PyDict>> {
    let (py, bytes) = (json.py(), json.as_bytes());
    let mut reply = work::run(py, bytes.len(), || {
        let reply = Reply::read(bytes)?;
        let are_usual = reply.hits.iter().all(|hit| hit.names(bytes).is_some());
        are_usual.then_some(reply).ok_or(kernels::Refused)
    })?;
    let hits = SearchHits { json: json.clone().unbind(), hits: take(&mut reply.hits) };
    whole(py, bytes, &reply, Bound::new(py, hits)?.as_any())
}

/// Return the object of a reply with these hits.
fn whole<'py>(py: Python<'py>, json: &[u8], reply: &Reply, hits: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
    let about_hits = dictionary(py, json, &reply.about_hits)?;
    about_hits.set_item("hits", hits)?;
    let whole = dictionary(py, json, &reply.members)?;
    whole.set_item("hits", about_hits)?;
    Ok(whole)
}

/// The hits of a reply, a sequence of objects that are made as they are asked for.
#[pyclass(frozen, sequence)]
pub struct SearchHits {
    json: Py<PyBytes>,
    hits: Vec<Hit>,
}

impl SearchHits {
    /// The whole reply.
    pub fn json<'a>(&'a self, py: Python<'a>) -> &'a [u8] {
        self.json.as_bytes(py)
    }

    pub fn hits(&self) -> &[Hit] {
        &self.hits
    }
}

#[pymethods]
impl SearchHits {
    fn __len__(&self) -> usize {
        self.hits.len()
    }

    fn __getitem__<'py>(&self, py: Python<'py>, place: isize) -> PyResult<Bound<'py, PyDict>> {
        let place = usize::try_from(place).ok().or_else(|| self.hits.len().checked_sub(place.unsigned_abs()));
        let hit = place
            .and_then(|place| self.hits.get(place))
            .ok_or_else(|| PyIndexError::new_err("there are fewer hits"))?;
        dictionary(py, self.json.as_bytes(py), &hit.members)
    }

    /// Return the index, id and routing of each document.
    fn names<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let (json, named) = (self.json.as_bytes(py), PyList::empty(py));
        let mut names = Names { py, last: None };
        for hit in work::each(py, &self.hits) {
            let found = hit?.names(json).ok_or_else(|| Refused::new_err(()))?;
            let routing = found.routing.map(|routing| PyString::from_bytes(py, routing)).transpose()?;
            named.append((names.of(found.index)?, PyString::from_bytes(py, found.id)?, routing))?;
        }
        Ok(named)
    }

    /// Return what each document has under a name, None where it has nothing.
    fn values<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyList>> {
        let (json, values) = (self.json.as_bytes(py), PyList::empty(py));
        for hit in work::each(py, &self.hits) {
            let value = hit?.value(json, name).map_err(refused)?;
            values.append(value.map(|value| any(py, json, &value)).transpose()?)?;
        }
        Ok(values)
    }

    /// Return the texts of documents in fields, None for what cannot be made a text of.
    fn texts<'py>(&self, py: Python<'py>, places: Vec<usize>, fields: Vec<String>) -> PyResult<Bound<'py, PyList>> {
        let fields: Vec<&str> = fields.iter().map(String::as_str).collect();
        let (json, texts) = (self.json.as_bytes(py), PyList::empty(py));
        for place in work::each(py, places) {
            let hit = self.hits.get(place?).ok_or_else(|| Refused::new_err(()))?;
            let text = hit.text(json, &fields).ok();
            texts.append(text.map(|text| PyString::from_bytes(py, &text)).transpose()?)?;
        }
        Ok(texts)
    }
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
