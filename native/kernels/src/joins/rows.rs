//! The rows of the documents that pairs name, and how many values two rows share.

use super::entries::{POSITION_BITS, POSITIONS};
use crate::{for_each_cpu, stop};

const WORD_BITS: u32 = u64::BITS;
/// Values that are compared at once.
const LANES: usize = 32;
/// Values whose equal ones a byte can count in each lane.
const BLOCK: usize = 255 * LANES;

/// The documents of pairs, each once and in ascending order, and the places of both sides of each pair among these.
#[derive(Default)]
pub struct Places {
    pub documents: Vec<i64>,
    pub first: Vec<u32>,
    pub second: Vec<u32>,
}

/// Find the places of pairs that are given as numbers (see `es_simhash.groups.pairs.candidates.pair_codes`).
pub fn places(codes: &[u64]) -> Places {
    let sides = || stop::parts(codes).flatten().flat_map(|code| [code >> POSITION_BITS, code & POSITIONS]);
    let (Some(least), Some(most)) = (sides().min(), sides().max()) else { return Places::default() };
    let mut members = Vec::new();
    stop::resize(&mut members, ((most - least) / u64::from(WORD_BITS)) as usize + 1);
    sides().for_each(|document| {
        let (word, bit) = split(document - least);
        members[word] |= 1 << bit;
    });
    let (documents, ranks) = listed(&members, least);
    let place = |document: u64| {
        let (word, bit) = split(document - least);
        ranks[word] + (members[word] & ((1 << bit) - 1)).count_ones()
    };
    let (mut first, mut second) = (Vec::new(), Vec::new());
    stop::extend(&mut first, codes.iter().map(|code| place(code >> POSITION_BITS)));
    stop::extend(&mut second, codes.iter().map(|code| place(code & POSITIONS)));
    Places { documents, first, second }
}

fn split(bit: u64) -> (usize, u32) {
    ((bit / u64::from(WORD_BITS)) as usize, (bit % u64::from(WORD_BITS)) as u32)
}

/// List the members of a set of bits, from `least` on, and count those before each word.
fn listed(members: &[u64], least: u64) -> (Vec<i64>, Vec<u32>) {
    let (mut documents, mut ranks) = (Vec::new(), Vec::with_capacity(members.len()));
    for (place, (&word, start)) in members.iter().zip((least as i64..).step_by(WORD_BITS as usize)).enumerate() {
        stop::look_at(place);
        ranks.push(documents.len() as u32);
        let mut rest = word;
        while rest != 0 {
            documents.push(start + i64::from(rest.trailing_zeros()));
            rest &= rest - 1;
        }
    }
    (documents, ranks)
}

/// Count the equal values of two blocks of rows: in lanes as narrow as the values, which are added up at the end.
macro_rules! agreeing {
    ($value:ty, $a:ident, $b:ident, $mask:ident) => {{
        let (a, a_rest) = $a.as_chunks::<LANES>();
        let (b, b_rest) = $b.as_chunks::<LANES>();
        let mut lanes = [0 as $value; LANES];
        for (a, b) in a.iter().zip(b) {
            for (lane, (a, b)) in lanes.iter_mut().zip(a.iter().zip(b)) {
                *lane += <$value>::from((a ^ b) & $mask == 0);
            }
        }
        let rest = a_rest.iter().zip(b_rest).filter(|(a, b)| (*a ^ *b) & $mask == 0).count() as u32;
        lanes.iter().map(|&lane| u32::from(lane)).sum::<u32>() + rest
    }};
}

/// Define a function for rows of this type of values.
macro_rules! agreements {
    ($name:ident, $value:ty) => {
        for_each_cpu! {
            /// Append, for each pair of rows of `size` values, the number of places with the same value under the mask.
            pub fn $name(
                values: &[$value],
                size: usize,
                first: &[u32],
                second: &[u32],
                mask: $value,
                counts: &mut Vec<u32>,
            ) {
                let row = |place: u32| &values[place as usize * size..][..size];
                for (&one, &other) in first.iter().zip(second) {
                    let blocks = row(one).chunks(BLOCK).zip(row(other).chunks(BLOCK));
                    counts.push(blocks.map(|(a, b)| agreeing!($value, a, b, mask)).sum());
                }
            }
        }
    };
}

agreements!(agreements_u8, u8);
agreements!(agreements_u16, u16);
agreements!(agreements_u32, u32);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_listed_once_and_found_again() {
        let pairs = [(3, 70), (3, 200), (64, 1000), (70, 71)];
        let codes: Vec<u64> = pairs.iter().map(|(one, other)| one << POSITION_BITS | other).collect();
        let found = places(&codes);
        assert_eq!(found.documents, [3, 64, 70, 71, 200, 1000]);
        assert_eq!(found.first, [0, 0, 1, 2]);
        assert_eq!(found.second, [2, 4, 5, 3]);
        assert!(places(&[]).documents.is_empty());
    }

    #[test]
    fn values_agree_under_the_mask_in_rows_of_any_size() {
        for size in [1, 31, 32, 33, 128, BLOCK + 5] {
            let values: Vec<u8> = (0..2 * size).map(|place| if place < size { 0x10 } else { place as u8 }).collect();
            let expected = values[size..].iter().filter(|&&value| value & 0xf == 0).count() as u32;
            let mut counts = Vec::new();
            agreements_u8(&values, size, &[0, 0], &[1, 0], 0xf, &mut counts);
            assert_eq!(counts, [expected, size as u32]);
        }
    }
}
