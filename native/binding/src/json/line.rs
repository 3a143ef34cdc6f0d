//! `JsonLine`: a document of a file of JSON lines, whose values become Python's objects only where they are asked for.

use std::borrow::Cow;

use es_simhash_kernels::json::lines;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString};

use super::objects::dictionary;
use crate::texts::refused;
use crate::work;

/// From so many bytes on, other threads may run while a line is read, and it can be interrupted.
const LONG: usize = 1 << 16;

#[pyclass(frozen)]
pub struct JsonLine {
    json: Py<PyBytes>,
    line: lines::Line,
}

type Str<'py> = Bound<'py, PyString>;
type Read<T> = Result<T, es_simhash_kernels::text::Refused>;

#[pymethods]
impl JsonLine {
    /// Read a line without space around it.
    #[new]
    fn new(json: Bound<'_, PyBytes>) -> PyResult<Self> {
        let line = unlocked(json.py(), json.as_bytes(), lines::Line::read)?;
        Ok(Self { json: json.unbind(), line })
    }

    /// Return the document as a dictionary, without what names it.
    fn document<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        dictionary(py, self.json.as_bytes(py), self.line.document())
    }

    /// Return the whole object as a dictionary.
    fn record<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        dictionary(py, self.json.as_bytes(py), self.line.record())
    }

    /// Return the id in a field, or in `_id` or `id` if none is given; and the routing.
    fn names<'py>(&self, py: Python<'py>, field: Option<&str>) -> PyResult<(Option<Str<'py>>, Option<Str<'py>>)> {
        let read = |json| Ok((self.line.id(json, field)?, self.line.routing(json)?));
        let (id, routing) = unlocked(py, self.json.as_bytes(py), read)?;
        let string = |text: Cow<'_, [u8]>| PyString::from_bytes(py, &text);
        Ok((id.map(string).transpose()?, routing.map(string).transpose()?))
    }

    /// Return the text in fields, or without any that of all strings but for the id.
    fn text<'py>(&self, py: Python<'py>, fields: Vec<String>, id: &str) -> PyResult<Str<'py>> {
        let fields: Vec<&str> = fields.iter().map(String::as_str).collect();
        let text = unlocked(py, self.json.as_bytes(py), |json| self.line.text(json, &fields, id.as_bytes()))?;
        PyString::from_bytes(py, &text)
    }

    /// Return the document as a line of JSON.
    fn written<'py>(&self, py: Python<'py>, id: &str, routing: Option<&str>) -> PyResult<Str<'py>> {
        let line = unlocked(py, self.json.as_bytes(py), |json| {
            self.line.written(json, id.as_bytes(), routing.map(str::as_bytes))
        })?;
        PyString::from_bytes(py, &line)
    }
}

/// Read a line, without the interpreter if it is long.
fn unlocked<'a, T: Send>(py: Python<'_>, json: &'a [u8], read: impl FnOnce(&'a [u8]) -> Read<T> + Send) -> PyResult<T> {
    if json.len() < LONG { read(json).map_err(refused) } else { work::run(py, json.len(), || read(json)) }
}
