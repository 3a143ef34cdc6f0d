//! One-permutation MinHash with optimal densification (defined in `es_simhash.sketches.minhash.one_permutation`).

use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::text::hashing::poly64::fmix64;
use crate::{for_each_cpu, stop};

/// The value of a bin that no feature fell into.
pub const EMPTY: u32 = u32::MAX;
/// Empty bins up to which their sequences are followed one by one.
const FEW: usize = 8;
/// Signatures of more values look up ranks only if less than one bin in `SPARSE` is filled: the table is large.
const NARROW: usize = 256;
const SPARSE: usize = 8;
/// Bins whose smallest ranks stay in registers at once.
const LANES: usize = 64;

/// In which order the bins of a signature of `size` values look for a filled bin.
pub struct Sequences {
    size: usize,
    /// Line i is the sequence of bin i, itself first.
    sequences: Vec<u16>,
    ranks: Ranks,
}

/// Block b has, for each bin s, the positions of s in the sequences of the `LANES` bins from b * `LANES` on.
enum Ranks {
    Narrow(Vec<[u8; LANES]>),
    Wide(Vec<[u16; LANES]>),
}

/// What one thread densifies in.
#[derive(Default)]
pub struct Scratch {
    before: Vec<u32>,
    filled: Vec<u16>,
    empty: Vec<u16>,
    nearest: Vec<u16>,
}

/// The sequences in use, so that schemes of the same size share them.
static IN_USE: Mutex<Vec<Weak<Sequences>>> = Mutex::new(Vec::new());

impl Sequences {
    /// The sequences of this size, made anew only if nobody has them.
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
            Ranks::Narrow(ranks(&sequences, size, |rank| rank as u8))
        } else {
            Ranks::Wide(ranks(&sequences, size, |rank| rank as u16))
        };
        Self { size, sequences, ranks }
    }

    pub fn size(&self) -> usize {
        self.size
    }

    /// Fill the empty bins of a row that has a filled one.
    pub fn densify(&self, row: &mut [u32], scratch: &mut Scratch) {
        let empty = count_empty(row);
        if empty == 0 || empty == self.size {
            return;
        }
        scratch.divide(row);
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
        for i in scratch.empty.iter().map(|&i| usize::from(i)) {
            let line = &self.sequences[i * self.size..(i + 1) * self.size];
            let found = line.iter().map(|&s| scratch.before[usize::from(s)]).find(|&value| value != EMPTY);
            row[i] = found.unwrap_or(EMPTY);
        }
    }

    fn choose_nearest(&self, row: &mut [u32], scratch: &mut Scratch) {
        scratch.nearest.resize(self.size, 0);
        match &self.ranks {
            Ranks::Narrow(ranks) => smallest_narrow(ranks, &scratch.filled, &mut scratch.nearest),
            Ranks::Wide(ranks) => smallest_wide(ranks, &scratch.filled, &mut scratch.nearest),
        }
        for i in scratch.empty.iter().map(|&i| usize::from(i)) {
            let s = self.sequences[i * self.size + usize::from(scratch.nearest[i])];
            row[i] = row[usize::from(s)];
        }
    }
}

impl Scratch {
    /// Note which bins are filled, and which are empty, without a branch that processors could not foresee.
    fn divide(&mut self, row: &[u32]) {
        self.filled.resize(row.len(), 0);
        self.empty.resize(row.len(), 0);
        let mut filled = 0;
        for (i, &value) in row.iter().enumerate() {
            self.filled[filled] = i as u16;
            self.empty[i - filled] = i as u16;
            filled += usize::from(value != EMPTY);
        }
        self.filled.truncate(filled);
        self.empty.truncate(row.len() - filled);
    }
}

fn ranks<R: Copy + Default>(sequences: &[u16], size: usize, rank: impl Fn(usize) -> R) -> Vec<[R; LANES]> {
    let mut blocks = vec![[R::default(); LANES]; size.div_ceil(LANES) * size];
    for (i, line) in sequences.chunks(size).enumerate() {
        stop::look();
        for (position, &s) in line.iter().enumerate() {
            blocks[i / LANES * size + usize::from(s)][i % LANES] = rank(position);
        }
    }
    blocks
}

for_each_cpu! {
    fn count_empty(row: &[u32]) -> usize {
        row.iter().map(|&value| u32::from(value == EMPTY)).sum::<u32>() as usize
    }
}

for_each_cpu! {
    fn smallest_narrow(ranks: &[[u8; LANES]], filled: &[u16], nearest: &mut [u16]) {
        smallest(ranks, filled, nearest, u8::MAX);
    }
}

for_each_cpu! {
    fn smallest_wide(ranks: &[[u16; LANES]], filled: &[u16], nearest: &mut [u16]) {
        smallest(ranks, filled, nearest, u16::MAX);
    }
}

/// Write how far the nearest of the filled bins is from each bin.
#[inline(always)]
fn smallest<R: Copy + Ord + Into<u16>>(ranks: &[[R; LANES]], filled: &[u16], nearest: &mut [u16], largest: R) {
    let size = nearest.len();
    for (ranks, nearest) in ranks.chunks(size).zip(nearest.chunks_mut(LANES)) {
        let mut least = [largest; LANES];
        for &s in filled {
            for (least, &rank) in least.iter_mut().zip(&ranks[usize::from(s)]) {
                *least = (*least).min(rank);
            }
        }
        for (nearest, least) in nearest.iter_mut().zip(least) {
            *nearest = least.into();
        }
    }
}

/// Put the value of a hash into its bin, of `size` bins, if it is smaller.
#[inline(always)]
pub fn put(row: &mut [u32], size: u64, hash: u64) {
    let bin = &mut row[scaled(hash, size)];
    *bin = (*bin).min(hash as u32);
}

/// Map the upper half of a hash to a number below `size`, evenly.
#[inline(always)]
pub fn scaled(hash: u64, size: u64) -> usize {
    (((hash >> 32) * size) >> 32) as usize
}

for_each_cpu! {
    /// Put the smallest value of each bin into a row.
    pub fn fill(row: &mut [u32], hashes: &[u64]) {
        let size = row.len() as u64;
        for &hash in hashes {
            put(row, size, hash);
        }
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
