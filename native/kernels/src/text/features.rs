//! The distinct features of a text.

use super::hashing::poly64::BASE;
use crate::for_each_cpu;
use crate::sketches::one_permutation::{put, scaled};

/// Places of a group, which fill a cache line and are compared at once.
const PLACES: usize = 8;
/// Features for which there is a group: few groups then overflow.
const FEATURES_A_GROUP: usize = 3;

/// A table to find repeated hashes in, used for one text after the other.
#[derive(Default)]
pub struct Distinct {
    groups: Vec<[u64; PLACES]>,
    /// How many places of each group are taken: the groups themselves are never cleared.
    taken: Vec<u8>,
}

impl Distinct {
    /// Move each hash's first occurrence to the front, in order, and return how many there are.
    pub fn keep_first(&mut self, hashes: &mut [u64]) -> usize {
        self.clear(hashes.len());
        keep_first(&mut self.groups, &mut self.taken, hashes)
    }

    /// Do the same, and put the smallest value of each bin into `bins` (see `sketches::one_permutation`).
    pub fn keep_first_and_fill(&mut self, hashes: &mut [u64], bins: &mut [u32]) -> usize {
        self.clear(hashes.len());
        keep_first_and_fill(&mut self.groups, &mut self.taken, hashes, bins)
    }

    fn clear(&mut self, hashes: usize) {
        let groups = (hashes / FEATURES_A_GROUP).next_power_of_two();
        self.groups.resize(groups, [0; PLACES]);
        self.taken.clear();
        self.taken.resize(groups, 0);
    }
}

for_each_cpu! {
    fn keep_first(groups: &mut [[u64; PLACES]], taken: &mut [u8], hashes: &mut [u64]) -> usize {
        each_first(groups, taken, hashes, |_| {})
    }
}

for_each_cpu! {
    fn keep_first_and_fill(
        groups: &mut [[u64; PLACES]],
        taken: &mut [u8],
        hashes: &mut [u64],
        bins: &mut [u32],
    ) -> usize {
        let size = bins.len() as u64;
        // The minimum does not mind repetitions, so that it needs no branch.
        each_first(groups, taken, hashes, |hash| put(bins, size, hash))
    }
}

/// Keep first occurrences; `each` sees every hash.
#[inline(always)]
fn each_first(groups: &mut [[u64; PLACES]], taken: &mut [u8], hashes: &mut [u64], mut each: impl FnMut(u64)) -> usize {
    let count = groups.len() as u64;
    let taken = &mut taken[..groups.len()];
    let mut kept = 0;
    for i in 0..hashes.len() {
        let hash = hashes[i];
        each(hash);
        // A caller's hashes may differ in their low bits only.
        let mut place = scaled(hash.wrapping_mul(BASE), count);
        let is_new = loop {
            let filled = usize::from(taken[place]);
            let group = &mut groups[place];
            let mut equal = 0_u32;
            for (j, &other) in group.iter().enumerate() {
                equal |= u32::from(other == hash) << j;
            }
            let is_new = equal & ((1 << filled) - 1) == 0;
            if filled < PLACES {
                group[filled] = hash;
                taken[place] += u8::from(is_new);
                break is_new;
            }
            if !is_new {
                break false;
            }
            place = (place + 1) % groups.len();
        };
        hashes[kept] = hash;
        kept += usize::from(is_new);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_equal_hashes_stay_in_their_order() {
        let mut hashes: Vec<u64> = (0..10_000).map(|i| i * i % 997).collect();
        let mut expected = Vec::new();
        for &hash in &hashes {
            if !expected.contains(&hash) {
                expected.push(hash);
            }
        }
        let mut table = Distinct::default();
        for _ in 0..2 {
            let kept = table.keep_first(&mut hashes);
            assert_eq!(hashes[..kept], expected);
            hashes.truncate(kept);
        }
    }
}
