//! Work without the interpreter: other threads run meanwhile, and interruptions are answered.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use es_simhash_kernels::stop::Stop;
use es_simhash_kernels::text::Refused;
use pyo3::prelude::*;

use crate::texts::refused;

/// Work of so many units (characters, say) is done before anybody could interrupt it.
const SHORT: usize = 1 << 22;
/// How long an interruption waits until it is seen.
const PATIENCE: Duration = Duration::from_millis(20);

/// Do work of so many units, which looks at its `Stop` now and then.
pub fn run<Made: Send>(
    py: Python<'_>,
    units: usize,
    work: impl FnOnce(&Arc<Stop>) -> Result<Made, Refused> + Send,
) -> PyResult<Made> {
    let stop = Arc::default();
    let made = if units < SHORT { py.detach(|| work(&stop)) } else { watched(py, &stop, work)? };
    made.map_err(refused)
}

/// Work in a thread of its own, while this one looks for interruptions.
fn watched<Made: Send>(
    py: Python<'_>,
    stop: &Arc<Stop>,
    work: impl FnOnce(&Arc<Stop>) -> Made + Send,
) -> PyResult<Made> {
    let (done, waiting) = (AtomicBool::new(false), thread::current());
    thread::scope(|scope| {
        let worker = scope.spawn(|| {
            let made = work(stop);
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
        waited?;
        Ok(made.unwrap_or_else(|panic| resume_unwind(panic)))
    })
}
