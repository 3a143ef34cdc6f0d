//! JSON objects, read where they lie, as `es_simhash.documents.files.json_values` reads them.
//!
//! Only what Python's reader certainly takes is taken. All else is `Refused`, and Python's reader decides: so what is
//! refused here need not be wrong (deep nesting, say, or numbers of hundreds of digits).

pub mod lines;
pub mod numbers;
pub mod paths;
pub mod replies;
pub mod strings;
pub mod values;
pub mod write;
