//! Python's objects written as JSON, as the clients of Elasticsearch and OpenSearch write it:
//! `json.dumps(…, ensure_ascii=False, separators=(",", ":"))` in UTF-8.

use es_simhash_kernels::json::numbers::push_float;
use es_simhash_kernels::json::write::push_string;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};

use crate::texts::Refused;
use crate::work;

/// Deeper objects, which may hold themselves, are left to Python.
const DEEPEST: usize = 50;

/// Return an object as JSON; refuse one with other than Python's own types, or with what is no JSON.
#[pyfunction]
pub fn json_bytes<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
    let mut out = Vec::new();
    push_object(object.cast_exact().map_err(|_| Refused::new_err(()))?, DEEPEST, &mut out)?;
    Ok(PyBytes::new(object.py(), &out))
}

fn push(value: &Bound<'_, PyAny>, depth: usize, out: &mut Vec<u8>) -> PyResult<()> {
    let inner = depth.checked_sub(1).ok_or_else(|| Refused::new_err(()))?;
    if let Ok(text) = value.cast_exact::<PyString>() {
        push_text(text, out)?;
    } else if let Ok(object) = value.cast_exact::<PyDict>() {
        push_object(object, inner, out)?;
    } else if let Ok(list) = value.cast_exact::<PyList>() {
        push_array(value.py(), list, inner, out)?;
    } else if let Ok(tuple) = value.cast_exact::<PyTuple>() {
        push_array(value.py(), tuple, inner, out)?;
    } else if value.is_none() {
        out.extend_from_slice(b"null");
    } else if let Ok(truth) = value.cast_exact::<PyBool>() {
        out.extend_from_slice(if truth.is_true() { b"true" } else { b"false" });
    } else if let Ok(integer) = value.cast_exact::<PyInt>() {
        push_integer(integer, out)?;
    } else if let Ok(float) = value.cast_exact::<PyFloat>() {
        push_finite(float.value(), out)?;
    } else {
        return Err(Refused::new_err(()));
    }
    Ok(())
}

fn push_object(object: &Bound<'_, PyDict>, depth: usize, out: &mut Vec<u8>) -> PyResult<()> {
    out.push(b'{');
    for (place, member) in work::each(object.py(), object).enumerate() {
        let (name, value) = member?;
        separate(place, out);
        push_text(name.cast_exact::<PyString>().map_err(|_| Refused::new_err(()))?, out)?;
        out.push(b':');
        push(&value, depth, out)?;
    }
    out.push(b'}');
    Ok(())
}

fn push_array<'py>(
    py: Python<'py>,
    elements: impl IntoIterator<Item = Bound<'py, PyAny>>,
    depth: usize,
    out: &mut Vec<u8>,
) -> PyResult<()> {
    out.push(b'[');
    for (place, element) in work::each(py, elements).enumerate() {
        separate(place, out);
        push(&element?, depth, out)?;
    }
    out.push(b']');
    Ok(())
}

fn separate(place: usize, out: &mut Vec<u8>) {
    if place > 0 {
        out.push(b',');
    }
}

/// Append a text; refuse one with lone surrogates.
fn push_text(text: &Bound<'_, PyString>, out: &mut Vec<u8>) -> PyResult<()> {
    // Not `to_str`, which would keep the bytes with the string.
    push_string(text.encode_utf8().map_err(|_| Refused::new_err(()))?.as_bytes(), out);
    Ok(())
}

fn push_integer(integer: &Bound<'_, PyInt>, out: &mut Vec<u8>) -> PyResult<()> {
    let value: i64 = integer.extract().map_err(|_| Refused::new_err(()))?;
    out.extend_from_slice(value.to_string().as_bytes());
    Ok(())
}

fn push_finite(value: f64, out: &mut Vec<u8>) -> PyResult<()> {
    if !value.is_finite() {
        return Err(Refused::new_err(()));
    }
    push_float(value, out);
    Ok(())
}
