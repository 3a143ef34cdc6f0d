//! From features to fingerprints.

pub mod one_permutation;
pub mod simhash;
