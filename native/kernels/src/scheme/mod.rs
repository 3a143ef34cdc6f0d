//! From texts to the fingerprints of a scheme.

pub mod fingerprinting;
pub mod settings;
