//! From keys to pairs, and from pairs to groups.

pub mod components;
pub mod contents;
pub mod entries;
pub mod folding;
pub mod links;
pub mod near;
pub mod rows;
pub mod tables;
