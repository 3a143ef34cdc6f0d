//! The words that are sorted so that documents with the same key become neighbours.
//!
//! The definition stands in `es_simhash.groups.pairs.candidates`: the key's hash is in the upper bits of a word, the
//! position of the document in the lower ones.

use crate::{for_each_cpu, stop};

pub const POSITION_BITS: u32 = 32;
pub const POSITIONS: u64 = (1 << POSITION_BITS) - 1;

/// The hashes of keys, which are sums of multiples of their columns.
pub struct KeyHashes {
    sums: Vec<u64>,
    column: Vec<u64>,
}

impl KeyHashes {
    /// Begin with this many keys.
    pub fn of(keys: usize) -> Self {
        Self { sums: vec![0; keys], column: Vec::new() }
    }

    /// Add a column: a number of each key.
    pub fn add(&mut self, mut numbers: impl Iterator<Item = u64>, factor: u64) {
        for sums in stop::parts_mut(&mut self.sums) {
            self.column.clear();
            self.column.extend(numbers.by_ref().take(sums.len()));
            add_products(sums, &self.column, factor);
        }
    }

    /// Return the entries of the keys whose documents stand at `first` and the places after it, unless left out.
    pub fn entries(&self, first: u64, kept: Option<&[bool]>) -> Vec<u64> {
        let mut found = Vec::with_capacity(if kept.is_none() { self.sums.len() } else { 0 });
        for (sums, start) in stop::parts(&self.sums).zip((0..).step_by(stop::FEW)) {
            let entries = sums.iter().zip(first + start as u64..).map(|(sum, position)| sum & !POSITIONS | position);
            match kept {
                None => found.extend(entries),
                Some(kept) => {
                    let kept = kept.get(start..).unwrap_or_default();
                    found.extend(entries.zip(kept).filter_map(|(entry, &is_kept)| is_kept.then_some(entry)));
                }
            }
        }
        found
    }
}

for_each_cpu! {
    fn add_products(sums: &mut [u64], numbers: &[u64], factor: u64) {
        for (sum, number) in sums.iter_mut().zip(numbers) {
            *sum = sum.wrapping_add(number.wrapping_mul(factor));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_have_the_upper_half_of_the_hash_and_the_position() {
        let mut hashes = KeyHashes::of(3);
        hashes.add([1 << 32, 2 << 32, 3 << 32].into_iter(), 7);
        hashes.add([0, 0, 1 << 40].into_iter(), 1);
        assert_eq!(hashes.entries(5, None), [7 << 32 | 5, 14 << 32 | 6, (21 + 256) << 32 | 7]);
        assert_eq!(hashes.entries(5, Some(&[false, true, false])), [14 << 32 | 6]);
    }
}
