//! The first step of a table of a self-join: the codes that may agree on some bits with another.
//!
//! The definition stands in `es_simhash.sketches.in_memory`. A code is an array of one or two words.

use crate::stop;

/// The bits of codes that a table brings together, hashed by multiples of their words.
#[derive(Clone, Copy)]
pub struct Hash<const WORDS: usize> {
    pub mask: [u64; WORDS],
    pub factors: [u64; WORDS],
}

impl<const WORDS: usize> Hash<WORDS> {
    #[inline(always)]
    fn of(&self, code: &[u64; WORDS]) -> u64 {
        let products = (0..WORDS).map(|word| (code[word] & self.mask[word]).wrapping_mul(self.factors[word]));
        products.fold(0, u64::wrapping_add)
    }
}

/// The bits of an entry that hold the row of its code, among this many.
pub fn row_mask(rows: usize) -> u64 {
    u64::MAX.checked_shr((rows as u64).leading_zeros()).unwrap_or(0)
}

/// Places of the filter for each code: more make it more selective, but let it outgrow the caches.
const PLACES: usize = 8;
/// Entries that are put aside before those that stay are kept: without branches, which would often be mispredicted.
const AT_ONCE: usize = 512;

/// Return the entries of codes whose hash another one may share, in the order of their rows.
///
/// An entry has the hash in its upper bits and the row in its lower ones. All codes that share a hash are returned, and
/// some others.
pub fn sharing<const WORDS: usize>(codes: &[[u64; WORDS]], hash: Hash<WORDS>) -> Vec<u64> {
    let row_mask = row_mask(codes.len());
    let bits = (codes.len() * PLACES).next_power_of_two().ilog2().clamp(6, row_mask.leading_zeros());
    let mut seen = Vec::new();
    stop::resize::<[u64; 2]>(&mut seen, 1 << (bits - 6));
    let place = |hash: u64| ((hash >> (64 - bits) >> 6) as usize, 1 << (hash >> (64 - bits) & 63));
    for codes in codes.chunks(AT_ONCE) {
        stop::look();
        for code in codes {
            let (word, bit) = place(hash.of(code));
            let [once, twice] = &mut seen[word];
            *twice |= *once & bit;
            *once |= bit;
        }
    }
    let (mut entries, mut some) = (Vec::new(), [0; AT_ONCE]);
    for (codes, first) in codes.chunks(AT_ONCE).zip((0u64..).step_by(AT_ONCE)) {
        stop::look();
        let mut count = 0;
        for (code, row) in codes.iter().zip(first..) {
            let hashed = hash.of(code);
            let (word, bit) = place(hashed);
            some[count] = hashed & !row_mask | row;
            count += usize::from(seen[word][1] & bit != 0);
        }
        entries.extend_from_slice(&some[..count]);
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_codes_that_share_a_hash_are_kept_and_few_others() {
        let hash = Hash { mask: [0xffff << 8], factors: [0x9E37_79B9_7F4A_7C15] };
        let codes: Vec<[u64; 1]> = (0..1000u64).map(|row| [((row % 990) << 8) + row % 7]).collect();
        let kept = sharing(&codes, hash);
        let rows: Vec<u64> = kept.iter().map(|entry| entry & row_mask(codes.len())).collect();
        assert!((0..10).chain(990..1000).all(|row| rows.contains(&row)));
        assert!(rows.is_sorted() && rows.len() < 300);
        assert!(kept.iter().zip(&rows).all(|(entry, &row)| hash.of(&codes[row as usize]) ^ entry < 1024));
    }

    #[test]
    fn codes_with_one_hash_are_all_kept() {
        let hash = Hash { mask: [u64::MAX; 2], factors: [0; 2] };
        assert_eq!(sharing(&[[1, 2], [3, 4], [5, 6]], hash), [0, 1, 2]);
        assert!(sharing(&[], hash).is_empty());
    }
}
