//! The fields of documents, read as columns.

use es_simhash_kernels::scheme::fields::{KeyForm, Layout};
use es_simhash_kernels::scheme::stored::{Rows, Stored};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};

use crate::work;

/// SimHashes, of one or two words; values that keys hold; signatures that are stored apart.
pub type Columns<'py> = (Bound<'py, PyAny>, Bound<'py, PyArray2<u32>>, Bound<'py, PyArray2<u32>>);

/// What the objects of documents hold: the places of those with a whole fingerprint, and of these the hashes of their
/// contents, the columns, and the similarities to a signature.
pub type Read<'py> = (Vec<usize>, Vec<Option<Bound<'py, PyString>>>, Columns<'py>, Option<Bound<'py, PyArray1<f64>>>);

/// Where the fields of documents are: the names of a layout's fields, and that of the scheme.
pub struct Names<'a> {
    pub fields: &'a [Py<PyString>],
    pub scheme: &'a Py<PyString>,
}

/// Read the fingerprints of a scheme in the objects of documents, and estimate their similarities to a `signature`.
pub fn read<'py>(
    layout: &Layout,
    names: &Names<'_>,
    scheme: &Bound<'py, PyString>,
    objects: &Bound<'py, PyList>,
    signature: Option<&[u8]>,
) -> PyResult<Read<'py>> {
    let py = objects.py();
    let (mut rows, mut whole, mut contents, mut keys) = (Rows::default(), Vec::new(), Vec::new(), Vec::new());
    for (place, object) in work::each(py, objects).enumerate() {
        if let Ok(object) = object?.cast_into::<PyDict>()
            && is_of(&object, names.scheme, scheme)?
            && append(layout, names.fields, &object, &mut keys, &mut rows)?
        {
            whole.push(place);
            contents.push(string(&object, names.fields.last())?);
        }
    }
    let similarities = signature.and_then(|signature| rows.estimates(layout, &values(signature)));
    let columns = columns(py, layout, rows, whole.len())?;
    Ok((whole, contents, columns, similarities.map(|similarities| similarities.into_pyarray(py))))
}

fn columns<'py>(py: Python<'py>, layout: &Layout, rows: Rows, count: usize) -> PyResult<Columns<'py>> {
    let keyed = layout.bands().map_or(0, |bands| bands.count * bands.rows);
    let size = layout.signature().map_or(0, |codec| codec.size);
    let simhashes = rows.simhashes.into_pyarray(py);
    let is_wide = layout.simhash_bits().is_some_and(|bits| bits > 64);
    Ok((
        if is_wide { simhashes.reshape([count, 2])?.into_any() } else { simhashes.into_any() },
        rows.keyed.into_pyarray(py).reshape([count, keyed])?,
        rows.signatures.into_pyarray(py).reshape([count, size])?,
    ))
}

/// The values of a signature in bytes.
fn values(signature: &[u8]) -> Vec<u32> {
    let (values, _) = signature.as_chunks();
    values.iter().map(|&bytes| u32::from_le_bytes(bytes)).collect()
}

fn is_of(object: &Bound<'_, PyDict>, name: &Py<PyString>, scheme: &Bound<'_, PyString>) -> PyResult<bool> {
    object.get_item(name)?.map_or(Ok(false), |found| found.eq(scheme))
}

fn append(
    layout: &Layout,
    names: &[Py<PyString>],
    object: &Bound<'_, PyDict>,
    keys: &mut Vec<u8>,
    rows: &mut Rows,
) -> PyResult<bool> {
    // The SimHash is the first field; the signature stands before the hash of the content, which is the last.
    let simhash = string(object, names.first().filter(|_| layout.has_simhash()))?;
    let signature = string(object, layout.signature().and(names.iter().rev().nth(1)))?;
    keys.clear();
    let blocks = if layout.has_simhash() { 0..0 } else { layout.block_fields() };
    if !join_keys(layout.form(), &names[blocks], object, keys)? {
        return Ok(false);
    }
    let end = keys.len();
    if !join_keys(layout.form(), &names[layout.band_fields()], object, keys)? {
        return Ok(false);
    }
    let (blocks, bands) = keys.split_at(end);
    let (simhash, signature) = (bytes(simhash.as_ref()), bytes(signature.as_ref()));
    Ok(rows.append(layout, &Stored { simhash, blocks, bands, signature }))
}

fn string<'py>(object: &Bound<'py, PyDict>, name: Option<&Py<PyString>>) -> PyResult<Option<Bound<'py, PyString>>> {
    let value = name.map_or(Ok(None), |name| object.get_item(name))?;
    Ok(value.and_then(|value| value.cast_into().ok()))
}

/// Append the keys of bands, with spaces between them, and return whether there is nothing but strings.
fn join_keys(
    form: KeyForm,
    names: &[Py<PyString>],
    object: &Bound<'_, PyDict>,
    target: &mut Vec<u8>,
) -> PyResult<bool> {
    let mut is_good = true;
    for (i, name) in names.iter().enumerate() {
        let Some(value) = object.get_item(name)? else { return Ok(false) };
        match value.cast::<PyList>() {
            Ok(keys) if form != KeyForm::Fields => {
                keys.iter().enumerate().for_each(|(i, key)| is_good &= append_key(i, &key, target));
            }
            _ => is_good &= append_key(i, &value, target),
        }
    }
    Ok(is_good)
}

fn append_key(place: usize, key: &Bound<'_, PyAny>, target: &mut Vec<u8>) -> bool {
    if place > 0 {
        target.push(b' ');
    }
    let key = key.cast::<PyString>().ok();
    target.extend_from_slice(bytes(key));
    key.is_some()
}

/// The UTF-8 of a string, which is empty where it has none.
fn bytes<'a>(string: Option<&'a Bound<'_, PyString>>) -> &'a [u8] {
    string.and_then(|string| string.to_str().ok()).unwrap_or_default().as_bytes()
}
