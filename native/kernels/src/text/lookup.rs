//! A table from hashes to numbers, by open addressing.

use super::hashing::poly64::BASE;
use crate::sketches::one_permutation::scaled;
use crate::stop;

/// Two in three places are free, so that what is not in the table is nearly always missed at once.
const PLACES_AN_ENTRY: usize = 3;

#[derive(Clone, Copy, Default)]
struct Place {
    hash: u64,
    value: u32,
    is_taken: bool,
}

/// A hash may have several values.
#[derive(Default)]
pub struct Lookup {
    places: Vec<Place>,
}

impl Lookup {
    pub fn new(entries: impl ExactSizeIterator<Item = (u64, u32)>) -> Self {
        let mut table = Self::default();
        stop::resize(&mut table.places, PLACES_AN_ENTRY * entries.len());
        for (place, (hash, value)) in entries.enumerate() {
            stop::look_at(place);
            let mut i = table.first_place(hash);
            while table.places[i].is_taken {
                i = (i + 1) % table.places.len();
            }
            table.places[i] = Place { hash, value, is_taken: true };
        }
        table
    }

    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The first value of a hash that is accepted.
    #[inline]
    pub fn find(&self, hash: u64, accept: impl Fn(u32) -> bool) -> Option<u32> {
        if self.is_empty() {
            return None;
        }
        let mut i = self.first_place(hash);
        loop {
            let place = self.places[i];
            if !place.is_taken {
                return None;
            }
            if place.hash == hash && accept(place.value) {
                return Some(place.value);
            }
            i = if i + 1 == self.places.len() { 0 } else { i + 1 };
        }
    }

    #[inline(always)]
    fn first_place(&self, hash: u64) -> usize {
        // A caller's hashes may differ in their low bits only.
        scaled(hash.wrapping_mul(BASE), self.places.len() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::hashing::poly64::fmix64;

    #[test]
    fn each_entry_is_found_and_nothing_else() {
        for hash in [fmix64, |i| i, |i| i << 50] {
            let table = Lookup::new((0..1000_u32).map(|i| (hash(u64::from(i)), i)));
            for i in 0..2000 {
                assert_eq!(table.find(hash(i), |_| true), (i < 1000).then_some(i as u32));
            }
        }
        assert_eq!(Lookup::default().find(0, |_| true), None);
    }

    #[test]
    fn the_values_of_a_hash_are_distinguished() {
        let table = Lookup::new([(7, 1), (7, 2), (8, 3)].into_iter());
        assert_eq!(table.find(7, |value| value == 2), Some(2));
        assert_eq!(table.find(7, |value| value == 3), None);
    }
}
