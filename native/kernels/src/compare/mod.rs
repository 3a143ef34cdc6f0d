//! Exact similarities of texts (defined in `es_simhash.scheme.verifier`).

pub mod comparer;
pub mod feature_weights;
pub mod kept;
pub mod measure;
pub mod set;
pub mod shared_numbers;
pub mod weight_table;
