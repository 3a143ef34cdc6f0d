//! The hash by which texts are known as equal (defined in `es_simhash.scheme.own_fields.content_hash`).

use sha2::{Digest, Sha256};

use crate::sketches::digits::append_base64url;
use crate::text::{Refused, Text};

/// The digits of a hash.
pub const LENGTH: usize = 8;
/// Code points that are written as UTF-8 at once.
const PIECE: usize = 1 << 12;

/// Append the first 48 bits of the SHA-256 of a text in UTF-8; `bytes` is memory to work in.
///
/// A lone surrogate has no UTF-8.
pub fn append_hash(text: Text<'_>, bytes: &mut Vec<u8>, target: &mut Vec<u8>) -> Result<(), Refused> {
    let digest = match text {
        Text::Ascii(text) => Sha256::digest(text),
        Text::Wide(points) => {
            let mut hash = Sha256::new();
            for piece in points.chunks(PIECE) {
                bytes.clear();
                append_utf8(piece, bytes)?;
                hash.update(&bytes);
            }
            hash.finalize()
        }
    };
    let first = digest.iter().take(6).fold(0, |number, &byte| number << 8 | u64::from(byte));
    append_base64url(first, LENGTH as u32, target);
    Ok(())
}

fn append_utf8(points: &[u32], bytes: &mut Vec<u8>) -> Result<(), Refused> {
    for &point in points {
        let character = char::from_u32(point).ok_or(Refused)?;
        bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash_of(text: Text<'_>) -> Result<String, Refused> {
        let mut target = Vec::new();
        append_hash(text, &mut Vec::new(), &mut target)?;
        Ok(String::from_utf8_lossy(&target).into_owned())
    }

    #[test]
    fn a_text_has_the_hash_of_its_utf8() {
        // By sha256sum.
        assert_eq!(hash_of(Text::Ascii(b"abc")).as_deref(), Ok("ungWv48B"));
        assert_eq!(hash_of(Text::Wide(&[0x61, 0x62, 0x63])).as_deref(), Ok("ungWv48B"));
        assert_eq!(hash_of(Text::Wide(&[0xD800])), Err(Refused));
    }
}
