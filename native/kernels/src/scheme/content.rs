//! The hash by which texts are known as equal (defined in `es_simhash.scheme.own_fields.content_hash`).

use sha2::Sha256;

use crate::sketches::digits::append_base64url;
use crate::text::hashing::digest;

/// The digits of a hash.
pub const LENGTH: usize = 8;

/// Append the first 48 bits of the SHA-256 of a text in UTF-8.
pub fn append_hash(text: &[u8], target: &mut Vec<u8>) {
    let digest = digest::<Sha256>(text);
    let first = digest.as_ref().iter().take(6).fold(0, |number, &byte| number << 8 | u64::from(byte));
    append_base64url(first, LENGTH as u32, target);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_has_the_beginning_of_its_sha256() {
        let mut target = Vec::new();
        append_hash(b"abc", &mut target);
        // By sha256sum.
        assert_eq!(target, b"ungWv48B");
    }
}
