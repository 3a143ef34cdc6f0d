//! The second step of a table of a self-join: the pairs of codes with the same hash that are near each other.
//!
//! The definition stands in `es_simhash.sketches.in_memory`. A code is an array of one or two words.

use super::tables::row_mask;
use crate::text::Refused;
use crate::{for_each_cpu, stop};

/// Codes that are compared at once.
const LANES: usize = 16;
/// Codes that are compared faster one by one.
const FEW: usize = 2;
/// Entries whose codes are fetched at once, so that the waits for memory overlap.
const AT_ONCE: usize = 4096;
/// Candidates after which a call returns, which take some hundredths of a second.
const CANDIDATES: usize = 1 << 25;

/// What pairs must have in common to be reported by a table.
pub struct Rule<'a, const WORDS: usize> {
    /// The greatest distance.
    pub distance: u32,
    /// Bits that are equal.
    pub chosen: [u64; WORDS],
    /// Blocks of bits that all have a differing bit; else another table reports the pair.
    pub passed_over: &'a [[u64; WORDS]],
}

impl<const WORDS: usize> Rule<'_, WORDS> {
    fn is_first_table_for(&self, one: &[u64; WORDS], other: &[u64; WORDS]) -> bool {
        let differ = |bits: &[u64; WORDS]| (0..WORDS).any(|word| (one[word] ^ other[word]) & bits[word] != 0);
        !differ(&self.chosen) && self.passed_over.iter().all(differ)
    }
}

/// Pairs of rows, with their distances.
#[derive(Default)]
pub struct Near {
    pub left: Vec<i64>,
    pub right: Vec<i64>,
    pub distances: Vec<u8>,
}

/// Append the pairs of the sorted entries from `start` on, until there are `limit`; return the next entry to go on with.
///
/// The memory for the pairs exceeds the limit by no more than some pairs for each code.
pub fn pairs<const WORDS: usize>(
    codes: &[[u64; WORDS]],
    entries: &[u64],
    start: usize,
    limit: usize,
    rule: &Rule<'_, WORDS>,
    pairs: &mut Near,
) -> Result<usize, Refused>
where
    Scratch<WORDS>: Compare,
{
    let rows = row_mask(codes.len());
    let mut scratch = Scratch { entries: Vec::new(), codes: Vec::new(), found: Vec::new(), candidates: CANDIDATES };
    let mut at = start;
    while at < entries.len() && pairs.left.len() < limit && scratch.candidates > 0 {
        let end = end_of_run(entries, rows, entries.len().min(at + AT_ONCE));
        scratch.fetch(codes, &entries[at..end], rows)?;
        let done = scratch.compare(rows, limit, rule.distance);
        for &(first, second, distance) in &scratch.found {
            if rule.is_first_table_for(&scratch.codes[first], &scratch.codes[second]) {
                pairs.left.push((scratch.entries[first] & rows) as i64);
                pairs.right.push((scratch.entries[second] & rows) as i64);
                pairs.distances.push(distance as u8);
            }
        }
        at = match scratch.entries.get(done) {
            Some(entry) => at + entries[at..end].partition_point(|each| each < entry),
            None => end,
        };
    }
    Ok(at)
}

/// Return where the run of entries with the hash of the one before `end` ends.
fn end_of_run(entries: &[u64], rows: u64, end: usize) -> usize {
    let places = (end..entries.len()).inspect(|&place| stop::look_at(place));
    end + places.take_while(|&place| entries[place - 1] ^ entries[place] <= rows).count()
}

/// Some entries that share their hash with others, their codes, and the near pairs found: places, and the distance.
pub struct Scratch<const WORDS: usize> {
    entries: Vec<u64>,
    codes: Vec<[u64; WORDS]>,
    found: Vec<(usize, usize, u32)>,
    /// The number of candidates that may still be compared.
    candidates: usize,
}

impl<const WORDS: usize> Scratch<WORDS> {
    /// Take the entries that share their hash with another one, and fetch their codes.
    fn fetch(&mut self, codes: &[[u64; WORDS]], entries: &[u64], rows: u64) -> Result<(), Refused> {
        self.entries.clear();
        let mut shares_with_previous = false;
        for (place, &entry) in entries.iter().enumerate() {
            stop::look_at(place);
            let shares_with_next = entries.get(place + 1).is_some_and(|next| entry ^ next <= rows);
            if shares_with_previous | shares_with_next {
                self.entries.push(entry);
            }
            shares_with_previous = shares_with_next;
        }
        self.codes.clear();
        for (place, entry) in self.entries.iter().enumerate() {
            stop::look_at(place);
            self.codes.push(*codes.get((entry & rows) as usize).ok_or(Refused)?);
        }
        Ok(())
    }
}

/// What compares codes with one or two words, compiled for each processor.
pub trait Compare {
    /// Find the near pairs of each entry with those after it that have the same hash; return the first entry not done.
    fn compare(&mut self, rows: u64, limit: usize, most: u32) -> usize;
}

/// Implement the comparison for codes of this many words.
macro_rules! compare {
    ($words:literal, $name:ident) => {
        impl Compare for Scratch<$words> {
            fn compare(&mut self, rows: u64, limit: usize, most: u32) -> usize {
                $name(self, rows, limit, most)
            }
        }

        for_each_cpu! {
            fn $name(scratch: &mut Scratch<$words>, rows: u64, limit: usize, most: u32) -> usize {
                let Scratch { entries, codes, found, candidates } = scratch;
                found.clear();
                let mut end = 0;
                for (first, &one) in codes.iter().enumerate() {
                    if end <= first {
                        let same_hash = entries[first..].iter().take_while(|&entry| entry ^ entries[first] <= rows);
                        end = first + same_hash.count();
                    }
                    let distance = |code: &[u64; $words]| -> u32 {
                        (0..$words).map(|word| (code[word] ^ one[word]).count_ones()).sum()
                    };
                    let mut second = first + 1;
                    while second + FEW < end && second + LANES <= codes.len() {
                        let (chunk, _) = codes[second..].as_chunks::<LANES>();
                        let distances = chunk[0].each_ref().map(distance);
                        if distances.iter().fold(false, |any, &distance| any | (distance <= most)) {
                            // The chunk may go beyond the run.
                            let places = (second..end).zip(distances).filter(|&(_, distance)| distance <= most);
                            found.extend(places.map(|(second, distance)| (first, second, distance)));
                        }
                        second += LANES;
                    }
                    for second in second..end {
                        let distance = distance(&codes[second]);
                        if distance <= most {
                            found.push((first, second, distance));
                        }
                    }
                    *candidates = candidates.saturating_sub(end - first - 1);
                    if found.len() >= limit || *candidates == 0 {
                        return first + 1;
                    }
                }
                codes.len()
            }
        }
    };
}
compare!(1, compare_one_word);
compare!(2, compare_two_words);

#[cfg(test)]
mod tests {
    use super::*;

    fn all_near(codes: &[[u64; 2]], limit: usize, rule: &Rule<'_, 2>) -> Vec<(i64, i64, u8)> {
        let entries: Vec<u64> = (0..codes.len() as u64).collect();
        let (mut found, mut at) = (Vec::new(), 0);
        while at < entries.len() {
            let mut some = Near::default();
            at = pairs(codes, &entries, at, limit, rule, &mut some).unwrap();
            found.extend(some.left.into_iter().zip(some.right).zip(some.distances).map(|((a, b), d)| (a, b, d)));
        }
        found
    }

    #[test]
    fn near_codes_with_one_hash_are_paired_once() {
        let codes: Vec<[u64; 2]> = (0..40).map(|row| [1 << row, u64::from(row % 2 == 0)]).collect();
        let rule = Rule { distance: 2, chosen: [0, 0], passed_over: &[] };
        let expected: Vec<_> =
            (0..40).flat_map(|a| (a + 1..40).filter(move |b| (a + b) % 2 == 0).map(move |b| (a, b, 2))).collect();
        assert_eq!(all_near(&codes, 1000, &rule), expected);
        assert_eq!(all_near(&codes, 1, &rule), expected);
    }

    #[test]
    fn pairs_that_another_table_reports_are_passed_over() {
        let codes = [[0, 0], [1, 0], [2, 0], [3, 0]];
        let rule = Rule { distance: 2, chosen: [1, 0], passed_over: &[] };
        assert_eq!(all_near(&codes, 9, &rule), [(0, 2, 1), (1, 3, 1)]);
        let rule = Rule { distance: 2, chosen: [0, 0], passed_over: &[[1, 0], [2, 0]] };
        assert_eq!(all_near(&codes, 9, &rule), [(0, 3, 2), (1, 2, 2)]);
    }

    #[test]
    fn rows_that_do_not_exist_are_refused() {
        let rule = Rule { distance: 2, chosen: [0], passed_over: &[] };
        assert_eq!(pairs(&[[7], [7]], &[2, 3], 0, 9, &rule, &mut Near::default()), Err(Refused));
    }
}
