//! Documents to features and fingerprints, one after the other, in memory that is used again.

use std::sync::Arc;

use super::condensing::{self, Fingerprints, condense};
use super::features::{self, Document};
use super::settings::Settings;
use crate::stop::Stop;
use crate::text::Refused;
use crate::text::weighted::{FeatureColumns, Features};

/// What one thread works in.
#[derive(Default)]
pub struct Scratch {
    features: Features,
    making: features::Scratch,
    condensing: condensing::Scratch,
    stop: Arc<Stop>,
}

impl Scratch {
    /// Make what gives up if it is asked to.
    pub fn new(stop: &Arc<Stop>) -> Self {
        Self {
            stop: Arc::clone(stop),
            making: features::Scratch::new(stop),
            condensing: condensing::Scratch::new(stop),
            ..Self::default()
        }
    }
}

/// Append the fingerprint of a document.
pub fn fingerprint(
    settings: &Settings,
    document: Document<'_>,
    scratch: &mut Scratch,
    made: &mut Fingerprints,
) -> Result<(), Refused> {
    scratch.making.make(settings, document, &mut scratch.features)?;
    condense(settings, &mut scratch.features, &mut scratch.condensing, made)?;
    scratch.stop.check()
}

/// Append the features of a document.
pub fn features(
    settings: &Settings,
    document: Document<'_>,
    scratch: &mut Scratch,
    made: &mut FeatureColumns,
) -> Result<(), Refused> {
    scratch.making.make_finished(settings, document, &mut scratch.features)?;
    made.append(&scratch.features);
    scratch.stop.check()
}
