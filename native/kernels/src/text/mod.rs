//! From texts to hashed features.

pub mod chars;
pub mod features;
pub mod hashing;
pub mod normalise;
pub mod weighted;

/// A text as Python holds it: ASCII as it lies in memory, any other as code points.
#[derive(Clone, Copy, Debug)]
pub enum Text<'a> {
    Ascii(&'a [u8]),
    Wide(&'a [u32]),
}

impl Text<'_> {
    pub fn len(&self) -> usize {
        match self {
            Text::Ascii(bytes) => bytes.len(),
            Text::Wide(points) => points.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A text cannot be used (a lone surrogate, say): the numpy way reads it again and says why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused;
