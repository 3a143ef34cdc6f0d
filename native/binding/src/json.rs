//! JSON to Python's objects, and back.

mod bytes;
mod line;
mod objects;

pub use bytes::json_bytes;
pub use line::JsonLine;
