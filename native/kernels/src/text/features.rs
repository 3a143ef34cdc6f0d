//! The distinct features of a text.

use std::sync::Arc;

use super::hashing::poly64::BASE;
use crate::for_each_cpu;
use crate::sketches::one_permutation::put;
use crate::stop::Stop;

/// Places in the table for each feature, at least.
const PLACES_A_FEATURE: usize = 2;
/// Rounds in which hashes that shared a place are given another one; a search finds what is left then.
const ROUNDS: usize = 16;
/// Hashes after which to look whether to stop.
const LOOK_AFTER: usize = 1 << 20;

/// A table to find repeated hashes in, used for one text after the other.
///
/// A hash stays if nothing has its place in the table, and goes if its equal has it. If another hash has it, the next
/// round decides, in which places are others. All this is done without a branch, which processors could not foresee.
#[derive(Default)]
pub struct Distinct {
    /// The number of the hash at each place. Numbers are counted on from round to round: one below those of this round
    /// is a leftover, so that the table is never cleared.
    numbers: Vec<u32>,
    next: u32,
    kept: Vec<u64>,
    /// Looked at now and then; what is returned afterwards means nothing.
    stop: Arc<Stop>,
}

impl Distinct {
    /// Make a table that gives up if it is asked to.
    pub fn new(stop: &Arc<Stop>) -> Self {
        Self { stop: Arc::clone(stop), ..Self::default() }
    }

    /// Leave one hash of each value, in any order, and return how many there are.
    pub fn keep_first(&mut self, hashes: &mut Vec<u64>) -> usize {
        self.keep(hashes, None)
    }

    /// Do the same, and put the smallest value of each bin into `bins` (see `sketches::one_permutation`).
    pub fn keep_first_and_fill(&mut self, hashes: &mut Vec<u64>, bins: &mut [u32]) -> usize {
        self.keep(hashes, Some(bins))
    }

    fn keep(&mut self, hashes: &mut Vec<u64>, mut bins: Option<&mut [u32]>) -> usize {
        let places = self.make_room(hashes.len());
        let Self { numbers, next, kept, stop } = self;
        let numbers = &mut numbers[..places];
        let (mut count, mut left) = (0, hashes.len());
        let mut factor = BASE;
        for _ in 0..ROUNDS {
            let mut round = Round { first: *next, factor, ..Round::default() };
            while round.done < left && !stop.is_requested() {
                let end = left.min(round.done + LOOK_AFTER);
                match &mut bins {
                    None => settle(numbers, &mut round, &mut hashes[..end], &mut kept[count..]),
                    Some(bins) => settle_and_fill(numbers, &mut round, &mut hashes[..end], &mut kept[count..], bins),
                }
            }
            bins = None;
            *next += round.kept as u32;
            (count, left) = (count + round.kept, round.left);
            if left == 0 {
                break;
            }
            factor = factor.wrapping_mul(BASE);
        }
        for &hash in &hashes[..left] {
            if !kept[..count].contains(&hash) {
                kept[count] = hash;
                count += 1;
            }
        }
        std::mem::swap(hashes, kept);
        hashes.truncate(count);
        count
    }

    /// Make room for the hashes of a text, and return how many places the table has for it.
    fn make_room(&mut self, hashes: usize) -> usize {
        let places = (hashes * PLACES_A_FEATURE).next_power_of_two();
        // A number is given to each hash once, and skipped once.
        let has_numbers = u32::try_from(2 * hashes).is_ok_and(|more| self.next.checked_add(more).is_some());
        if self.numbers.len() < places || !has_numbers {
            self.numbers = vec![0; places.max(self.numbers.len())];
            self.next = 1;
        }
        self.kept.clear();
        self.kept.resize(hashes, 0);
        places
    }
}

/// How far a round has come.
#[derive(Default)]
struct Round {
    /// The number of the first hash that this round keeps.
    first: u32,
    factor: u64,
    done: usize,
    kept: usize,
    left: usize,
}

for_each_cpu! {
    /// Go on with a round up to the end of `hashes`: move those whose place was free to `kept`, and those whose place
    /// another one has to the front.
    fn settle(numbers: &mut [u32], round: &mut Round, hashes: &mut [u64], kept: &mut [u64]) {
        settle_each(numbers, round, hashes, kept, |_| {})
    }
}

for_each_cpu! {
    fn settle_and_fill(
        numbers: &mut [u32],
        round: &mut Round,
        hashes: &mut [u64],
        kept: &mut [u64],
        bins: &mut [u32],
    ) {
        let size = bins.len() as u64;
        // The minimum does not mind repetitions.
        settle_each(numbers, round, hashes, kept, |hash| put(bins, size, hash))
    }
}

/// Do the work of `settle`; `each` sees every hash.
#[inline(always)]
fn settle_each(
    numbers: &mut [u32],
    round: &mut Round,
    hashes: &mut [u64],
    kept: &mut [u64],
    mut each: impl FnMut(u64),
) {
    let Round { first, factor, done, kept: mut count, mut left } = *round;
    let shift = 63 - numbers.len().trailing_zeros();
    for i in done..hashes.len() {
        let hash = hashes[i];
        each(hash);
        // The highest bits, for a caller's hashes may differ in their low bits only.
        let place = &mut numbers[((hash.wrapping_mul(factor) >> 1) >> shift) as usize];
        let is_taken = *place >= first;
        let number = if is_taken { *place - first } else { 0 };
        let is_same = is_taken & (kept[number as usize] == hash);
        *place = if is_taken { *place } else { first + count as u32 };
        kept[count] = hash;
        hashes[left] = hash;
        count += usize::from(!is_taken);
        left += usize::from(is_taken & !is_same);
    }
    *round = Round { first, factor, done: hashes.len(), kept: count, left };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tried;

    fn assert_distinct(table: &mut Distinct, hashes: &[u64]) {
        let mut expected = hashes.to_vec();
        expected.sort_unstable();
        expected.dedup();
        let mut kept = hashes.to_vec();
        assert_eq!(table.keep_first(&mut kept), expected.len());
        kept.sort_unstable();
        assert_eq!(kept, expected);
    }

    #[test]
    fn one_of_equal_hashes_stays_whatever_the_table_met_before() {
        let mut table = Distinct::default();
        for count in [tried(10_000), 0, 1, 2, 3, 100, tried(9_999)] {
            let hashes: Vec<u64> = (0..count).map(|i| i * i % 997).collect();
            assert_distinct(&mut table, &hashes);
            assert_distinct(&mut table, &vec![7; count as usize]);
        }
    }

    #[test]
    fn hashes_that_share_their_places_in_every_round_are_told_apart() {
        let hashes: Vec<u64> = (0..500).map(|i| ((i % 250) << 60) | (i % 250 / 16)).collect();
        assert_distinct(&mut Distinct::default(), &hashes);
    }

    #[test]
    fn the_numbers_begin_anew_before_they_run_out() {
        let mut table = Distinct { next: u32::MAX - 100, numbers: vec![u32::MAX - 101; 256], ..Distinct::default() };
        for _ in 0..4 {
            assert_distinct(&mut table, &[1, 2, 3, 2, 1, 5, 8, 13, 21, 34, 55, 89]);
        }
    }
}
