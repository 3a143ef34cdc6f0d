//! The kernels of es-simhash: each computes what its numpy twin of the same name computes, bit for bit.

mod bits;
pub mod compare;
pub mod cpu;
pub mod joins;
pub mod scheme;
pub mod sketches;
pub mod stop;
pub mod text;

/// How many cases a test tries: fewer in Miri, which takes a thousand times as long.
#[cfg(test)]
pub(crate) const fn tried(cases: u64) -> u64 {
    if cfg!(miri) { cases / 50 } else { cases }
}
