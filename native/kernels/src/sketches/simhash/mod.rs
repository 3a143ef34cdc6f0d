//! SimHash (defined in `es_simhash.sketches.simhash`): the signs of sums of bits.

mod counts;
mod exact_sum;
mod float_sums;
mod integer_sums;

pub use counts::unweighted;
pub use float_sums::weighted_by_floats;
pub use integer_sums::weighted_by_integers;
