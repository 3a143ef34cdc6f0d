//! From keys to pairs.

pub mod entries;
pub mod links;
