//! A request to stop, which long kernels look for now and then.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::text::Refused;

#[derive(Default)]
pub struct Stop(AtomicBool);

impl Stop {
    pub fn request(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub fn is_requested(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Give up if somebody asked for it.
    pub fn check(&self) -> Result<(), Refused> {
        if self.is_requested() { Err(Refused) } else { Ok(()) }
    }
}
