//! The kernels of es-simhash: each computes what its numpy twin of the same name computes, bit for bit.

pub mod cpu;
pub mod scheme;
pub mod sketches;
pub mod text;
