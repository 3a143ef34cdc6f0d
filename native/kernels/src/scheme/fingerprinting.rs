//! Documents to features and fingerprints, one after the other, in memory that is used again.

use super::condensing::{self, Fingerprints, condense};
use super::features::{self, Document};
use super::settings::Settings;
use crate::stop;
use crate::text::Refused;
use crate::text::weighted::{FeatureColumns, Features};

/// What one thread works in.
#[derive(Default)]
pub struct Scratch {
    features: Features,
    making: features::Scratch,
    condensing: condensing::Scratch,
}

/// Append the fingerprint of a document.
pub fn fingerprint(
    settings: &Settings,
    document: Document<'_>,
    scratch: &mut Scratch,
    made: &mut Fingerprints,
) -> Result<(), Refused> {
    stop::look();
    scratch.making.make(settings, document, &mut scratch.features)?;
    condense(settings, &mut scratch.features, &mut scratch.condensing, made)
}

/// Append the features of a document.
pub fn features(
    settings: &Settings,
    document: Document<'_>,
    scratch: &mut Scratch,
    made: &mut FeatureColumns,
) -> Result<(), Refused> {
    stop::look();
    scratch.making.make_finished(settings, document, &mut scratch.features)?;
    made.append(&scratch.features);
    Ok(())
}
