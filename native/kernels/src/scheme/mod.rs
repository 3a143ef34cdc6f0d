//! From texts to the fingerprints of a scheme.

pub mod condensing;
pub mod content;
pub mod features;
pub mod fields;
pub mod fingerprinting;
pub mod passages;
pub mod settings;
pub mod stored;
