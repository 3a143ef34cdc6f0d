//! The distinct features of a text.

use super::hashing::poly64::BASE;
use crate::for_each_cpu;
use crate::sketches::one_permutation::put;
use crate::stop;

/// Places in the table for each feature, at least: few in the first round, for the sake of the cache, and many in the
/// later ones, so that they are few.
const PLACES_A_FEATURE: [usize; 2] = [2, 8];
/// Rounds in which hashes that shared a place are given another one; what is left then is sorted.
const ROUNDS: usize = 16;

/// A table to find repeated hashes in, used for one text after the other.
///
/// A hash stays if its place in the table is free, and goes if its equal is there. If another hash is, the next round
/// decides, in which places are others. All this is done without a branch, which processors could not foresee.
#[derive(Default)]
pub struct Distinct {
    table: Vec<u64>,
    kept: Vec<u64>,
}

impl Distinct {
    /// Leave one hash of each value, in any order, and return how many there are.
    pub fn keep_first(&mut self, hashes: &mut Vec<u64>) -> usize {
        self.keep(hashes, None)
    }

    /// Do the same, and put the smallest value of each bin into `bins` (see `sketches::one_permutation`).
    pub fn keep_first_and_fill(&mut self, hashes: &mut Vec<u64>, bins: &mut [u32]) -> usize {
        self.keep(hashes, Some(bins))
    }

    fn keep(&mut self, hashes: &mut Vec<u64>, mut bins: Option<&mut [u32]>) -> usize {
        let Self { table, kept } = self;
        stop::resize(kept, hashes.len().max(kept.len()));
        let (mut count, mut left, mut factor) = (0, hashes.len(), 1_u64);
        for round in 0..ROUNDS {
            if left == 0 {
                break;
            }
            let table = freed(table, left * PLACES_A_FEATURE[round.min(1)]);
            let mut round = Round { factor, ..Round::default() };
            while round.done < left {
                stop::look();
                let end = left.min(round.done + stop::FEW);
                match &mut bins {
                    None => settle(table, &mut round, &mut hashes[..end], &mut kept[count..]),
                    Some(bins) => settle_and_fill(table, &mut round, &mut hashes[..end], &mut kept[count..], bins),
                }
            }
            bins = None;
            (count, left) = (count + round.kept, round.left);
            factor = factor.wrapping_mul(BASE);
        }
        // None of these is among the kept ones: its equal would have been met at its place.
        let rest = &mut hashes[..left];
        stop::sort(rest);
        for (i, &hash) in rest.iter().enumerate() {
            if i == 0 || rest[i - 1] != hash {
                kept[count] = hash;
                count += 1;
            }
        }
        std::mem::swap(hashes, kept);
        hashes.truncate(count);
        count
    }
}

/// Free a table of so many places: at each stands a number that has its own place elsewhere.
fn freed(table: &mut Vec<u64>, places: usize) -> &mut [u64] {
    let places = places.next_power_of_two();
    stop::resize(table, places.max(table.len()));
    let table = &mut table[..places];
    stop::parts_mut(table).for_each(|part| part.fill(0));
    table[0] = u64::MAX;
    table
}

/// How far a round has come.
#[derive(Default)]
struct Round {
    /// What hashes are multiplied by before their highest bits name a place.
    factor: u64,
    done: usize,
    kept: usize,
    left: usize,
}

for_each_cpu! {
    /// Go on with a round up to the end of `hashes`: move those whose place was free to `kept`, and those whose place
    /// another one has to the front.
    fn settle(table: &mut [u64], round: &mut Round, hashes: &mut [u64], kept: &mut [u64]) {
        settle_each(table, round, hashes, kept, |_| {})
    }
}

for_each_cpu! {
    fn settle_and_fill(
        table: &mut [u64],
        round: &mut Round,
        hashes: &mut [u64],
        kept: &mut [u64],
        bins: &mut [u32],
    ) {
        let size = bins.len() as u64;
        // The minimum does not mind repetitions.
        settle_each(table, round, hashes, kept, |hash| put(bins, size, hash))
    }
}

/// Do the work of `settle`; `each` sees every hash.
#[inline(always)]
fn settle_each(table: &mut [u64], round: &mut Round, hashes: &mut [u64], kept: &mut [u64], mut each: impl FnMut(u64)) {
    let Round { factor, done, kept: mut count, mut left } = *round;
    let shift = 64 - table.len().trailing_zeros();
    for i in done..hashes.len() {
        let hash = hashes[i];
        each(hash);
        let key = hash.wrapping_mul(factor);
        let place = (key >> shift) as usize;
        let there = table[place];
        let is_free = (there >> shift) as usize != place;
        table[place] = if is_free { key } else { there };
        kept[count] = hash;
        hashes[left] = hash;
        count += usize::from(is_free);
        left += usize::from(!is_free & (there != key));
    }
    *round = Round { factor, done: hashes.len(), kept: count, left };
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
}
