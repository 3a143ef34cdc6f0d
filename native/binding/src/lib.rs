//! The kernels as a Python module.

mod documents;
mod fields;
mod fingerprinter;
mod folding;
mod hashing;
mod joins;
mod self_join;
mod settings;
mod stored;
mod text;
mod texts;
mod utf8;
mod verifier;
mod work;

use pyo3::prelude::*;

#[pymodule]
mod es_simhash_native {
    use numpy::{PyArray1, PyArrayMethods};
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::fields::Fields;
    #[pymodule_export]
    use crate::fingerprinter::Fingerprinter;
    #[pymodule_export]
    use crate::folding::plausible_pairs;
    #[pymodule_export]
    use crate::hashing::hash_tokens;
    #[pymodule_export]
    use crate::joins::{Components, Linker, agreements, contents, entries, places, sorted_together, utf8_of};
    #[pymodule_export]
    use crate::self_join::{near_pairs, sharing};
    #[pymodule_export]
    use crate::text::{normalise, words};
    #[pymodule_export]
    use crate::texts::Refused;
    #[pymodule_export]
    use crate::verifier::{KeptTexts, Verifier};
    #[pymodule_export]
    use crate::work::_fail;

    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __version__: &str = env!("CARGO_PKG_VERSION");

    /// The first digits of the SHA-256 of es_simhash_native.pyi, by which `es_simhash._core.environment` knows old builds.
    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __interface__: &str = "df765cbbe0e8";

    /// Load numpy's interface with the module: in the first call of a kernel, an interruption would make that panic.
    #[pymodule_init]
    fn load_numpy(module: &Bound<'_, PyModule>) -> PyResult<()> {
        PyArray1::<u8>::zeros(module.py(), 0, false).try_readonly()?;
        Ok(())
    }
}
