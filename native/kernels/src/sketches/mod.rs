//! From features to fingerprints.

pub mod k_hash;
mod logarithm;
pub mod one_permutation;
pub mod repeated;
pub mod simhash;
pub mod weighted;
