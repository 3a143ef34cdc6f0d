//! Which rows may be near-duplicates of rows before them (defined in `es_simhash.scheme.folding`).

use crate::sketches::estimate::{agreeing, of_agreeing};
use crate::stop;

/// The compared parts of some hits, a row each: SimHashes of one word or of two, and the values of signatures; an empty
/// column is not compared.
pub struct Rows<'a> {
    pub count: usize,
    pub simhashes: &'a [u64],
    pub values: &'a [u32],
    pub value_bits: u32,
}

/// The most bits that differ, and the lowest estimate, of a pair that may be near: either is enough.
pub struct Bounds {
    pub distance: u32,
    pub least: f64,
}

/// A pair that may be near: two rows, the later one first, their distance and estimate, where these are known.
pub struct Plausible {
    pub first: usize,
    pub second: usize,
    pub distance: u32,
    pub estimate: f64,
}

impl Rows<'_> {
    /// Compare each row from a place on with those before it. Once as many of them as are `wanted` are near none, later
    /// ones are compared with those before the last of these only.
    pub fn plausible(&self, start: usize, wanted: Option<usize>, bounds: &Bounds) -> Vec<Plausible> {
        let (mut found, mut near_none, mut end) = (Vec::new(), 0, usize::MAX);
        let size = self.values.len() / self.count;
        let estimates = (0..=size).map(|agreeing| of_agreeing(agreeing as u32, size, self.value_bits));
        let estimates: Vec<f64> = if size == 0 { vec![f64::NAN] } else { estimates.collect() };
        let mut counts = vec![0; self.count];
        for first in start..self.count {
            stop::look();
            let before = first.min(end);
            let own = &self.values[first * size..(first + 1) * size];
            agreeing(own, &self.values[..before * size], self.value_bits, &mut counts);
            let known = found.len();
            for (second, &count) in counts[..before].iter().enumerate() {
                let (distance, estimate) = (self.distance(first, second), estimates[count as usize]);
                if distance.is_some_and(|bits| bits <= bounds.distance) || estimate >= bounds.least {
                    found.push(Plausible { first, second, distance: distance.unwrap_or(0), estimate });
                }
            }
            near_none += usize::from(found.len() == known);
            if end == usize::MAX && Some(near_none) == wanted {
                end = first;
            }
        }
        found
    }

    fn distance(&self, first: usize, second: usize) -> Option<u32> {
        let words = self.simhashes.len() / self.count;
        let row = |place: usize| &self.simhashes[place * words..(place + 1) * words];
        (words > 0).then(|| row(first).iter().zip(row(second)).map(|(a, b)| (a ^ b).count_ones()).sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_is_plausible_by_bits_or_by_its_estimate() {
        let rows = Rows { count: 3, simhashes: &[0, 1, 0xFF], values: &[1, 2, 1, 3, 1, 2], value_bits: 8 };
        let pairs = |distance, least| -> Vec<_> {
            let bounds = Bounds { distance, least };
            rows.plausible(1, None, &bounds).iter().map(|pair| (pair.first, pair.second)).collect()
        };
        assert_eq!(pairs(1, 1.0), [(1, 0), (2, 0)]);
        assert_eq!(pairs(0, 0.4), [(1, 0), (2, 0), (2, 1)]);
        assert_eq!(pairs(0, 1.1), []);
    }
    #[test]
    fn once_enough_are_near_none_later_rows_meet_those_before_the_last_of_these() {
        let rows = Rows { count: 6, simhashes: &[0, 7, 7, 63, 63, 0], values: &[], value_bits: 8 };
        let pairs = |wanted| -> Vec<_> {
            let found = rows.plausible(0, wanted, &Bounds { distance: 0, least: 2.0 });
            found.iter().map(|pair| (pair.first, pair.second)).collect()
        };
        assert_eq!(pairs(None), [(2, 1), (4, 3), (5, 0)]);
        assert_eq!(pairs(Some(3)), [(2, 1), (5, 0)]);
        assert_eq!(pairs(Some(2)), [(5, 0)]);
        assert_eq!(pairs(Some(1)), []);
    }
}
