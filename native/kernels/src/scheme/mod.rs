//! From texts to the fingerprints of a scheme.

pub mod condensing;
pub mod features;
pub mod fingerprinting;
pub mod settings;
