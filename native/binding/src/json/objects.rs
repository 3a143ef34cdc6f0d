//! Lines of JSON as Python's objects: what `json.loads` makes of them.

use es_simhash_kernels::json::paths::inside;
use es_simhash_kernels::json::strings::unescaped;
use es_simhash_kernels::json::values::{Member, Span, elements_at, members_at};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString};

use crate::texts::{Refused, refused};
use crate::work;

/// Integers of so many characters fit into 64 bits.
const SHORT: usize = 18;

/// Return the dictionary of an object's members.
pub fn dictionary<'py>(py: Python<'py>, json: &[u8], members: &[Member]) -> PyResult<Bound<'py, PyDict>> {
    let dictionary = PyDict::new(py);
    for member in work::each(py, members) {
        let Member { name, value } = member?;
        dictionary.set_item(string(py, &json[name.clone()])?, object(py, json, value)?)?;
    }
    Ok(dictionary)
}

/// Return the object of a value.
pub fn object<'py>(py: Python<'py>, json: &[u8], value: &Span) -> PyResult<Bound<'py, PyAny>> {
    let token = &json[value.clone()];
    Ok(match token[0] {
        b'"' => string(py, inside(json, value))?.into_any(),
        b'{' => dictionary(py, json, &members_at(json, value).map_err(refused)?)?.into_any(),
        b'[' => list(py, json, &elements_at(json, value).map_err(refused)?)?.into_any(),
        b't' | b'f' => PyBool::new(py, token[0] == b't').to_owned().into_any(),
        b'n' => py.None().into_bound(py),
        _ => number(py, token)?,
    })
}

fn list<'py>(py: Python<'py>, json: &[u8], elements: &[Span]) -> PyResult<Bound<'py, PyList>> {
    let objects = work::each(py, elements).map(|element| object(py, json, element?));
    let objects: Vec<_> = objects.collect::<PyResult<_>>()?;
    PyList::new(py, objects)
}

fn string<'py>(py: Python<'py>, inner: &[u8]) -> PyResult<Bound<'py, PyString>> {
    PyString::from_bytes(py, &unescaped(inner).map_err(refused)?)
}

fn number<'py>(py: Python<'py>, token: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    let digits = str::from_utf8(token).map_err(|_| Refused::new_err(()))?;
    if digits.contains(['.', 'e', 'E']) {
        let value: f64 = digits.parse().map_err(|_| Refused::new_err(()))?;
        return Ok(PyFloat::new(py, value).into_any());
    }
    if digits.len() > SHORT {
        return py.get_type::<PyInt>().call1((digits,));
    }
    let value: i64 = digits.parse().map_err(|_| Refused::new_err(()))?;
    Ok(value.into_pyobject(py)?.into_any())
}
