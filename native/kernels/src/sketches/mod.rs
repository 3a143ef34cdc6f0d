//! From features to fingerprints.

pub mod bands;
pub mod blocks;
pub mod codec;
pub mod digits;
pub mod estimate;
pub mod k_hash;
mod logarithm;
pub mod one_permutation;
pub mod repeated;
pub mod simhash;
pub mod weighted;
pub mod winnowing;

/// The largest number of values of a signature.
pub const MAX_SIZE: usize = 4096;
