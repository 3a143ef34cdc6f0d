//! The distinct features of a text.

use std::cell::Cell;

use super::hashing::poly64::BASE;
use crate::for_each_cpu;
use crate::stop;

/// Places in the table for each feature, at least: few in the first round, for the sake of the cache, and many in the
/// later ones, so that they are few.
const PLACES_A_FEATURE: [usize; 2] = [2, 8];
const FEWEST_PLACES: usize = 1024;
/// Rounds in which hashes that shared a place are given another one; what is left then is sorted.
const ROUNDS: usize = 16;
/// More features than these are sorted: a table would not stay in any cache, and would take much more memory than they.
const MOST: usize = 1 << 20;

/// Tables to find repeated hashes in, used for one text after the other.
///
/// A hash stays if its place in the table is free, and goes if its equal is there. If another hash is, the next round
/// decides, in which places are others. All this is done without a branch, which processors could not foresee.
#[derive(Default)]
pub struct Distinct {
    /// Table i has 2^i places.
    tables: Vec<Table>,
    left: Vec<u64>,
}

impl Distinct {
    /// Leave one hash of each value, in any order, and return how many there are.
    pub fn keep_first(&mut self, hashes: &mut Vec<u64>) -> usize {
        if hashes.len() > MOST {
            stop::sort(hashes);
            hashes.dedup();
            return hashes.len();
        }
        let Self { tables, left } = self;
        stop::resize(left, hashes.len().max(left.len()));
        let (all, others) = (cells(hashes), cells(left));
        let (mut from, mut count, mut kept, mut factor) = (all, all.len(), 0, 1_u64);
        for number in 0..ROUNDS {
            if count == 0 {
                break;
            }
            let places = (count * PLACES_A_FEATURE[number.min(1)]).next_power_of_two().max(FEWEST_PLACES);
            let number = places.trailing_zeros() as usize;
            tables.resize_with(tables.len().max(number + 1), Table::default);
            let (table, mark) = tables[number].freed(places);
            let mut round = Round { factor, mark, done: 0, kept, left: 0 };
            while round.done < count {
                stop::look_at(round.done);
                let end = count.min(round.done + stop::FEW);
                settle(table, &mut round, &from[..end], all, others);
            }
            (from, count, kept) = (others, round.left, round.kept);
            factor = factor.wrapping_mul(BASE);
        }
        // None of these is among the kept ones: its equal would have been met at its place.
        let rest = &mut left[..count];
        stop::sort(rest);
        for (i, &hash) in rest.iter().enumerate() {
            if i == 0 || rest[i - 1] != hash {
                hashes[kept] = hash;
                kept += 1;
            }
        }
        hashes.truncate(kept);
        kept
    }
}

fn cells(numbers: &mut [u64]) -> &[Cell<u64>] {
    Cell::from_mut(numbers).as_slice_of_cells()
}

/// Places for numbers, which their highest bits name.
///
/// To free all places, the numbers get another mark: their highest bits differ by it from those that name the place.
#[derive(Default)]
struct Table {
    places: Vec<u64>,
    marks: u64,
}

impl Table {
    /// Free all places; return them, and what a number is marked by.
    fn freed(&mut self, places: usize) -> (&mut [u64], u64) {
        let shift = u64::BITS - places.trailing_zeros();
        self.marks += 1;
        if self.places.is_empty() || self.marks == places as u64 {
            self.places.clear();
            stop::extend(&mut self.places, (0..places).map(|place| (place as u64) << shift));
            self.marks = 1;
        }
        (&mut self.places, self.marks << shift)
    }
}

/// How far a round has come.
struct Round {
    /// What hashes are multiplied by before their highest bits name a place.
    factor: u64,
    mark: u64,
    done: usize,
    kept: usize,
    left: usize,
}

for_each_cpu! {
    /// Go on with a round up to the end of `hashes`: write those whose place was free to `kept`, and those whose place
    /// another one has to `left`. Either may be where the hashes are.
    fn settle(
        table: &mut [u64],
        round: &mut Round,
        hashes: &[Cell<u64>],
        kept: &[Cell<u64>],
        left: &[Cell<u64>],
    ) {
        // If the compiler knows how many places there are, no place is beyond them.
        match table.len() {
            0x400 => settle_in::<0x400>(table, round, hashes, kept, left),
            0x800 => settle_in::<0x800>(table, round, hashes, kept, left),
            0x1000 => settle_in::<0x1000>(table, round, hashes, kept, left),
            0x2000 => settle_in::<0x2000>(table, round, hashes, kept, left),
            _ => settle_each(table, round, hashes, kept, left),
        }
    }
}

#[inline(always)]
fn settle_in<const PLACES: usize>(
    table: &mut [u64],
    round: &mut Round,
    hashes: &[Cell<u64>],
    kept: &[Cell<u64>],
    left: &[Cell<u64>],
) {
    if let Some(table) = table.first_chunk_mut::<PLACES>() {
        settle_each(table, round, hashes, kept, left);
    }
}

#[inline(always)]
fn settle_each(table: &mut [u64], round: &mut Round, hashes: &[Cell<u64>], kept: &[Cell<u64>], left: &[Cell<u64>]) {
    let shift = u64::BITS - table.len().trailing_zeros();
    // Numbers of the same place differ by less.
    let apart = 1 << shift;
    let Round { factor, mark, done, kept: mut count, left: mut others } = *round;
    let left = &left[..kept.len()];
    for hash in hashes[done..].iter().map(Cell::get) {
        let number = hash.wrapping_mul(factor);
        let place = (number >> shift) as usize;
        let marked = number ^ mark;
        let there = table[place];
        let difference = there ^ marked;
        table[place] = if difference < apart { there } else { marked };
        kept[count].set(hash);
        left[others].set(hash);
        count += usize::from(difference >= apart);
        others += usize::from(difference.wrapping_sub(1) < apart - 1);
    }
    *round = Round { done: hashes.len(), kept: count, left: others, ..*round };
}

#[cfg(test)]
mod tests {
    use super::super::hashing::poly64::fmix64;
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
    #[cfg(not(miri))]
    fn a_text_of_very_many_features_takes_no_table() {
        let mut table = Distinct::default();
        let hashes: Vec<u64> = (0..=MOST as u64).map(|i| fmix64(i / 2)).collect();
        assert_distinct(&mut table, &hashes);
        assert!(table.tables.is_empty() && table.left.is_empty());
    }

    #[test]
    fn a_table_is_free_however_often_it_was_used() {
        let mut table = Distinct::default();
        for text in 0..tried(3 * FEWEST_PLACES as u64) {
            let hashes: Vec<u64> = (0..60).map(|i| ((i * text % 64) << 58) | (i % 3)).collect();
            assert_distinct(&mut table, &hashes);
        }
    }

    #[test]
    fn hashes_that_share_their_places_in_every_round_are_distinguished() {
        let hashes: Vec<u64> = (0..500).map(|i| ((i % 250) << 60) | (i % 250 / 16)).collect();
        assert_distinct(&mut Distinct::default(), &hashes);
    }
}
