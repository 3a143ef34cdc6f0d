//! Python's strings as UTF-8.

use es_simhash_kernels::text::Refused;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use crate::texts::{is_ascii, parts, refused};

/// A string as UTF-8; were the string asked for that, it would keep it.
pub enum Utf8<'py> {
    Ascii(Bound<'py, PyString>),
    Short(Bound<'py, PyBytes>),
    Long(Vec<u8>),
}

impl<'py> Utf8<'py> {
    pub fn of(text: Bound<'py, PyAny>) -> PyResult<Self> {
        let string = text.cast_into::<PyString>().map_err(|_| refused(Refused))?;
        if is_ascii(&string)? {
            return Ok(Self::Ascii(string));
        }
        let mut parts = parts(&string)?;
        let first = encoded(parts.next())?;
        if parts.len() == 0 {
            return Ok(Self::Short(first));
        }
        let mut bytes = first.as_bytes().to_vec();
        while parts.len() > 0 {
            bytes.extend_from_slice(encoded(parts.next())?.as_bytes());
        }
        Ok(Self::Long(bytes))
    }

    pub fn bytes(&self) -> PyResult<&[u8]> {
        match self {
            Self::Ascii(string) => Ok(string.to_str()?.as_bytes()),
            Self::Short(bytes) => Ok(bytes.as_bytes()),
            Self::Long(bytes) => Ok(bytes),
        }
    }
}

fn encoded<'py>(part: Option<PyResult<Bound<'py, PyString>>>) -> PyResult<Bound<'py, PyBytes>> {
    let part = part.ok_or(Refused).map_err(refused)??;
    part.encode_utf8().map_err(|_| refused(Refused))
}
