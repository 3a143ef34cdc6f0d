//! Work without the interpreter: other threads run in the meantime, interruptions are answered, and what panics raises.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use es_simhash_kernels::stop::Stop;
use es_simhash_kernels::text::Refused;
use pyo3::import_exception;
use pyo3::prelude::*;

use crate::texts::refused;

import_exception!(es_simhash.errors, KernelError);

/// Work of this many units (characters, say) is done before anybody could interrupt it.
const SHORT: usize = 1 << 20;
/// How long an interruption waits until it is seen.
const PATIENCE: Duration = Duration::from_millis(20);
/// So many of Python's objects are handled between two looks for interruptions.
const OBJECTS: usize = 1 << 10;

/// Do work of this many units, which looks whether to stop (`es_simhash_kernels::stop`) where it may take long.
pub fn run<Made: Send>(
    py: Python<'_>,
    units: usize,
    work: impl FnOnce() -> Result<Made, Refused> + Send,
) -> PyResult<Made> {
    let made = if units < SHORT { py.detach(|| catch_unwind(AssertUnwindSafe(work))) } else { watched(py, work)? };
    made.map_err(|panic| failed(&*panic))?.map_err(refused)
}

/// Panic in work of this many units, as a kernel with a mistake in it does: for tests.
#[pyfunction]
pub fn _fail(py: Python<'_>, units: usize) -> PyResult<()> {
    run(py, units, || panic!("{units} units"))
}

/// Work in a thread of its own, while this one looks for interruptions.
fn watched<Made: Send>(py: Python<'_>, work: impl FnOnce() -> Made + Send) -> PyResult<thread::Result<Made>> {
    let stop = Arc::<Stop>::default();
    let (done, waiting) = (AtomicBool::new(false), thread::current());
    thread::scope(|scope| {
        let worker = scope.spawn(|| {
            Arc::clone(&stop).heed();
            let made = catch_unwind(AssertUnwindSafe(work));
            done.store(true, Ordering::Release);
            waiting.unpark();
            made
        });
        let mut waited = Ok(());
        while waited.is_ok() && !done.load(Ordering::Acquire) {
            py.detach(|| thread::park_timeout(PATIENCE));
            waited = py.check_signals();
        }
        if waited.is_err() {
            stop.request();
        }
        let made = py.detach(|| worker.join());
        waited.map(|()| made.and_then(|made| made))
    })
}

fn failed(panic: &(dyn Any + Send)) -> PyErr {
    let literal = panic.downcast_ref::<&str>().copied();
    let said = literal.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message");
    KernelError::new_err(format!(
        "A compiled kernel failed: {said}. This is a bug: report it, and set ES_SIMHASH_NATIVE=0 to work without kernels."
    ))
}

/// Go through Python's objects; look for interruptions now and then.
pub fn each<'py, T>(py: Python<'py>, objects: impl IntoIterator<Item = T>) -> impl Iterator<Item = PyResult<T>> {
    objects.into_iter().enumerate().map(move |(place, object)| {
        if place % OBJECTS == OBJECTS - 1 {
            py.check_signals()?;
        }
        Ok(object)
    })
}
