//! Python's strings, read so that other threads may run while they are worked on.

use es_simhash_kernels::text::{self as kernels, Text};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PySlice, PyString};
use pyo3::{create_exception, ffi, intern};

use crate::work;

create_exception!(es_simhash_native, Refused, PyValueError, "An item cannot be used: the numpy way says why.");

/// Characters that are read at once.
const CHARACTERS: usize = 1 << 20;

/// The kernels' refusal as Python's exception.
pub fn refused(_: kernels::Refused) -> PyErr {
    Refused::new_err(())
}

/// The texts of a list. They stay alive as long as this does, even if the list changes.
pub struct Texts<'py> {
    strings: Vec<Bound<'py, PyString>>,
}

impl<'py> Texts<'py> {
    pub fn of(list: &Bound<'py, PyList>) -> PyResult<Self> {
        let strings = work::each(list.py(), list).map(|item| item?.cast_into().map_err(|_| refused(kernels::Refused)));
        Ok(Self { strings: strings.collect::<PyResult<_>>()? })
    }

    pub fn one(string: &Bound<'py, PyString>) -> Self {
        Self { strings: vec![string.clone()] }
    }

    /// Take the texts of lists; return how many there are up to the end of each list as well.
    pub fn of_lists(lists: &Bound<'py, PyList>) -> PyResult<(Self, Vec<usize>)> {
        let (mut strings, mut ends) = (Vec::new(), Vec::with_capacity(lists.len()));
        for list in work::each(lists.py(), lists) {
            let list = list?.cast_into::<PyList>().map_err(|_| refused(kernels::Refused))?;
            strings.extend(Self::of(&list)?.strings);
            ends.push(strings.len());
        }
        Ok((Self { strings }, ends))
    }

    /// Read all texts: ASCII where it lies, others as code points in `arena`.
    pub fn read<'a>(&'a self, py: Python<'py>, arena: &'a mut Vec<u32>) -> PyResult<Vec<Text<'a>>> {
        let mut ends = Vec::with_capacity(self.strings.len());
        for string in work::each(py, &self.strings) {
            let string = string?;
            if !is_ascii(string)? {
                append_code_points(string, arena)?;
            }
            ends.push(arena.len());
        }
        let mut start = 0;
        let mut texts = Vec::with_capacity(self.strings.len());
        for pair in work::each(py, self.strings.iter().zip(ends)) {
            let (string, end) = pair?;
            if start == end {
                texts.push(Text::Ascii(string.to_str()?.as_bytes()));
            } else {
                texts.push(Text::Wide(&arena[start..end]));
            }
            start = end;
        }
        Ok(texts)
    }
}

pub fn is_ascii(string: &Bound<'_, PyString>) -> PyResult<bool> {
    string.call_method0(intern!(string.py(), "isascii"))?.is_truthy()
}

/// Append code points.
fn append_code_points(string: &Bound<'_, PyString>, arena: &mut Vec<u32>) -> PyResult<()> {
    arena.reserve(string.len()?);
    for part in parts(string)? {
        append_part(&part?, arena)?;
    }
    Ok(())
}

/// Cut a string into parts that are read at once; look for interruptions before each, unless there is but one.
pub fn parts<'py>(
    string: &Bound<'py, PyString>,
) -> PyResult<impl ExactSizeIterator<Item = PyResult<Bound<'py, PyString>>>> {
    let length = string.len()?;
    Ok((0..length.div_ceil(CHARACTERS).max(1)).map(move |place| {
        if length <= CHARACTERS {
            return Ok(string.clone());
        }
        string.py().check_signals()?;
        let start = place * CHARACTERS;
        let slice = PySlice::new(string.py(), start as isize, (start + CHARACTERS) as isize, 1);
        Ok(string.as_any().get_item(slice)?.cast_into()?)
    }))
}

fn append_part(string: &Bound<'_, PyString>, arena: &mut Vec<u32>) -> PyResult<()> {
    let length = string.len()?;
    let first = arena.len();
    arena.resize(first + length, 0);
    let target = arena[first..].as_mut_ptr();
    // SAFETY: the string is one, and `target` has room for the `length` code points that it has.
    #[allow(unsafe_code)]
    let written = unsafe { ffi::PyUnicode_AsUCS4(string.as_ptr(), target, length as ffi::Py_ssize_t, 0) };
    if written.is_null() { Err(PyErr::fetch(string.py())) } else { Ok(()) }
}
