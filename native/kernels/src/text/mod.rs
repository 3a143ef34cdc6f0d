//! From texts to hashed features.

pub mod chars;
pub mod digits;
pub mod features;
pub mod hashing;
pub mod idf;
pub mod lookup;
pub mod normalise;
pub mod numbers;
pub mod points;
pub mod runs;
pub mod spans;
pub mod stop_words;
pub mod weighted;
pub mod words;

use crate::stop;

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

    /// Append the text as it is, in UTF-16.
    pub fn encode(&self, units: &mut Vec<u16>) -> Result<(), Refused> {
        match self {
            Text::Ascii(bytes) => stop::extend(units, bytes.iter().map(|&byte| u16::from(byte))),
            Text::Wide(points) => {
                for (place, &point) in points.iter().enumerate() {
                    stop::look_at(place);
                    let character = char::from_u32(point).ok_or(Refused)?;
                    units.extend_from_slice(character.encode_utf16(&mut [0; 2]));
                }
            }
        }
        Ok(())
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A text cannot be used (a lone surrogate, say): the numpy way reads it again and says why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused;
