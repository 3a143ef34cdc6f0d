//! One-permutation MinHash with optimal densification (defined in `es_simhash.sketches.minhash.one_permutation`).

use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::bits::bits_of;
use crate::text::hashing::poly64::fmix64;
use crate::{for_each_cpu, stop};

/// The value of a bin that no feature fell into.
pub const EMPTY: u32 = u32::MAX;
/// Empty bins up to which their sequences are followed one by one.
const FEW: usize = 8;
/// Signatures of more values look up ranks only if less than one bin in `SPARSE` is filled: the table is large.
const NARROW: usize = 256;
const SPARSE: usize = 8;
/// The size of a signature that is not chosen.
const USUAL: usize = 128;
/// Bins whose smallest ranks stay in registers at once.
const LANES: usize = 128;

/// In which order the bins of a signature of `size` values look for a filled bin.
pub struct Sequences {
    size: usize,
    /// Line i is the sequence of bin i, itself first.
    sequences: Vec<u16>,
    ranks: Ranks,
}

/// Block b has, for each bin s, its ranks in the sequences of the `LANES` bins from b * `LANES` on.
///
/// Wide ranks are positions; narrow ones have s in their lower half.
enum Ranks {
    Narrow(Vec<[u16; LANES]>),
    Wide(Vec<[u16; LANES]>),
}

/// What one thread densifies in.
#[derive(Default)]
pub struct Scratch {
    before: Vec<u32>,
    /// Bit s: bin s is filled.
    filled: Vec<u64>,
    nearest: Vec<u16>,
}

/// The sequences in use, so that schemes of the same size share them.
static IN_USE: Mutex<Vec<Weak<Sequences>>> = Mutex::new(Vec::new());

impl Sequences {
    /// The sequences of this size, made again only if nobody has them.
    pub fn of_size(size: usize) -> Arc<Self> {
        let mut in_use = IN_USE.lock().unwrap_or_else(PoisonError::into_inner);
        in_use.retain(|each| each.strong_count() > 0);
        let known = in_use.iter().filter_map(Weak::upgrade).find(|each| each.size == size);
        known.unwrap_or_else(|| {
            let made = Arc::new(Self::new(size));
            in_use.push(Arc::downgrade(&made));
            made
        })
    }

    fn new(size: usize) -> Self {
        let mut sequences = vec![0; size * size];
        for (i, line) in sequences.chunks_mut(size).enumerate() {
            stop::look();
            let key = |s: u16| if usize::from(s) == i { 0 } else { fmix64((i as u64) << 32 | u64::from(s)) };
            for (s, place) in line.iter_mut().enumerate() {
                *place = s as u16;
            }
            line.sort_by_key(|&s| key(s));
        }
        let ranks = if size <= NARROW {
            Ranks::Narrow(ranks(&sequences, size, |position, s| (position as u16) << 8 | s))
        } else {
            Ranks::Wide(ranks(&sequences, size, |position, _| position as u16))
        };
        Self { size, sequences, ranks }
    }

    pub fn size(&self) -> usize {
        self.size
    }

    /// Fill the empty bins of a row that has a filled one.
    pub fn densify(&self, row: &mut [u32], scratch: &mut Scratch) {
        scratch.filled.resize(self.size.div_ceil(64), 0);
        find_filled(row, &mut scratch.filled);
        let empty = self.size - scratch.filled.iter().map(|bits| bits.count_ones() as usize).sum::<usize>();
        if empty == 0 || empty == self.size {
            return;
        }
        let is_sparse = (self.size - empty) * SPARSE < self.size;
        if empty > FEW && (self.size <= NARROW || is_sparse) {
            self.choose_nearest(row, scratch);
        } else {
            self.follow(row, scratch);
        }
    }

    fn follow(&self, row: &mut [u32], scratch: &mut Scratch) {
        scratch.before.clear();
        scratch.before.extend_from_slice(row);
        for (value, line) in row.iter_mut().zip(self.sequences.chunks(self.size)).filter(|(value, _)| **value == EMPTY)
        {
            let found = line.iter().map(|&s| scratch.before[usize::from(s)]).find(|&value| value != EMPTY);
            *value = found.unwrap_or(EMPTY);
        }
    }

    fn choose_nearest(&self, row: &mut [u32], scratch: &mut Scratch) {
        scratch.nearest.resize(self.size, 0);
        match &self.ranks {
            Ranks::Narrow(ranks) => {
                smallest(ranks, &scratch.filled, &mut scratch.nearest);
                take_nearest(row, &scratch.nearest);
            }
            Ranks::Wide(ranks) => {
                smallest(ranks, &scratch.filled, &mut scratch.nearest);
                for (i, &position) in scratch.nearest.iter().enumerate() {
                    row[i] = row[usize::from(self.sequences[i * self.size + usize::from(position)])];
                }
            }
        }
    }
}

fn ranks(sequences: &[u16], size: usize, rank: impl Fn(usize, u16) -> u16) -> Vec<[u16; LANES]> {
    let mut blocks = vec![[0; LANES]; size.div_ceil(LANES) * size];
    for (i, line) in sequences.chunks(size).enumerate() {
        stop::look();
        for (position, &s) in line.iter().enumerate() {
            blocks[i / LANES * size + usize::from(s)][i % LANES] = rank(position, s);
        }
    }
    blocks
}

for_each_cpu! {
    /// Note which bins are filled.
    fn find_filled(row: &[u32], filled: &mut [u64]) {
        for (bits, values) in filled.iter_mut().zip(row.chunks(64)) {
            let mut flags = [0; 64];
            for (flag, &value) in flags.iter_mut().zip(values) {
                *flag = u8::from(value != EMPTY);
            }
            *bits = bits_of(&flags);
        }
    }
}

for_each_cpu! {
    /// Write the smallest rank of a filled bin in the sequence of each bin.
    fn smallest(ranks: &[[u16; LANES]], filled: &[u64], nearest: &mut [u16]) {
        let size = nearest.len();
        for (ranks, nearest) in ranks.chunks(size).zip(nearest.chunks_mut(LANES)) {
            let mut least = [u16::MAX; LANES];
            for (bits, ranks) in filled.iter().zip(ranks.chunks(64)) {
                let mut left = *bits;
                while left != 0 {
                    let ranks = &ranks[left.trailing_zeros() as usize];
                    for i in 0..LANES {
                        least[i] = least[i].min(ranks[i]);
                    }
                    left &= left - 1;
                }
            }
            nearest.copy_from_slice(&least[..nearest.len()]);
        }
    }
}

for_each_cpu! {
    /// Give each bin the value of the one that its narrow rank names: filled ones are their own nearest.
    fn take_nearest(row: &mut [u32], nearest: &[u16]) {
        for (i, &rank) in nearest.iter().enumerate() {
            row[i] = row[usize::from(rank as u8)];
        }
    }
}

/// Map the upper half of a hash to a number below `size`, evenly.
#[inline(always)]
pub fn scaled(hash: u64, size: u64) -> usize {
    (((hash >> 32) * size) >> 32) as usize
}

for_each_cpu! {
    /// Put the smallest value of each bin into a row.
    pub fn fill(row: &mut [u32], hashes: &[u64]) {
        // If the compiler knows how many bins there are, no bin is beyond them.
        match row.len() {
            USUAL => fill_usual(row, hashes),
            _ => fill_each(row, hashes),
        }
    }
}

#[inline(always)]
fn fill_usual(row: &mut [u32], hashes: &[u64]) {
    if let Some(row) = row.first_chunk_mut::<USUAL>() {
        fill_each(row, hashes);
    }
}

#[inline(always)]
fn fill_each(row: &mut [u32], hashes: &[u64]) {
    for &hash in hashes {
        let bin = &mut row[scaled(hash, row.len() as u64)];
        *bin = (*bin).min(hash as u32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tried;

    /// Each empty bin takes the value of the first filled bin of its sequence.
    fn expected(row: &[u32]) -> Vec<u32> {
        let first_filled = |i: u64| {
            let filled = (0..row.len()).filter(|&s| row[s] != EMPTY);
            filled.min_by_key(|&s| fmix64(i << 32 | s as u64)).map_or(EMPTY, |s| row[s])
        };
        let each = row.iter().zip(0..);
        each.map(|(&value, i)| if value == EMPTY { first_filled(i) } else { value }).collect()
    }

    #[test]
    fn empty_bins_take_the_first_filled_one_of_their_sequences() {
        let mut scratch = Scratch::default();
        let sizes = if cfg!(miri) { &[1, 2, 9, 33][..] } else { &[1, 2, 63, 64, 65, 128, 256, 257, 300] };
        for &size in sizes {
            let sequences = Sequences::new(size);
            for hashes in (0..tried(60)).chain([100, 500, tried(2_000)]) {
                let mut row = vec![EMPTY; size];
                fill(&mut row, &(0..hashes).map(|i| fmix64(i << 20 | hashes)).collect::<Vec<u64>>());
                let wanted = expected(&row);
                sequences.densify(&mut row, &mut scratch);
                assert_eq!(row, wanted, "{hashes} hashes in {size} bins");
            }
        }
    }
}
