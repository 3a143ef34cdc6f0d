//! Hashes by which equal texts are found (defined in `es_simhash.groups.pairs.fingerprint_store`).

use sha2::Sha256;

use crate::text::hashing::digest;

/// Append the first 128 bits of the SHA-256 of a text in UTF-8, as two words, the lowest byte first.
pub fn append_hash(text: &[u8], words: &mut Vec<u64>) {
    let digest = digest::<Sha256>(text);
    let (bytes, _) = digest.as_ref().as_chunks();
    words.extend(bytes.iter().take(2).map(|&bytes| u64::from_le_bytes(bytes)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_has_the_beginning_of_its_sha256() {
        let mut words = Vec::new();
        append_hash(b"abc", &mut words);
        // By sha256sum.
        assert_eq!(words, [0xba78_16bf_8f01_cfea_u64.swap_bytes(), 0x4141_40de_5dae_2223_u64.swap_bytes()]);
    }
}
