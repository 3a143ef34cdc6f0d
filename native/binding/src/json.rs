//! JSON to Python's objects, and back.

mod bytes;
mod line;
mod objects;
mod replies;

pub use bytes::json_bytes;
pub use line::JsonLine;
pub use replies::{SearchHits, search_hits, search_reply};
