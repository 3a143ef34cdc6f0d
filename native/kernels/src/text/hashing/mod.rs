//! The hash functions of tokens.

pub mod poly64;
