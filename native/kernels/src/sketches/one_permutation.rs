//! One-permutation MinHash with optimal densification (defined in `es_simhash.sketches.minhash.one_permutation`).

use crate::for_each_cpu;
use crate::text::hashing::poly64::fmix64;

/// The value of a bin that no feature fell into.
pub const EMPTY: u32 = u32::MAX;
/// Rows with a smaller share of filled bins than one in this number are densified by ranks.
const SPARSE: usize = 8;

/// In which order the bins of a signature of `size` values look for a filled bin.
pub struct Sequences {
    size: usize,
    /// Line i is the sequence of bin i, itself first.
    sequences: Vec<u16>,
    /// Element [s, i] is the position of bin s in the sequence of bin i.
    ranks: Vec<u16>,
}

impl Sequences {
    pub fn new(size: usize) -> Self {
        let mut sequences = vec![0; size * size];
        let mut ranks = vec![0; size * size];
        for (i, line) in sequences.chunks_mut(size).enumerate() {
            let key = |s: u16| if usize::from(s) == i { 0 } else { fmix64((i as u64) << 32 | u64::from(s)) };
            for (s, place) in line.iter_mut().enumerate() {
                *place = s as u16;
            }
            line.sort_by_key(|&s| key(s));
            for (rank, &s) in line.iter().enumerate() {
                ranks[usize::from(s) * size + i] = rank as u16;
            }
        }
        Self { size, sequences, ranks }
    }

    pub fn size(&self) -> usize {
        self.size
    }

    /// Fill the empty bins of a row that has a filled one.
    pub fn densify(&self, row: &mut [u32], scratch: &mut Vec<u32>) {
        let filled = row.iter().filter(|&&value| value != EMPTY).count();
        if filled == self.size || filled == 0 {
            return;
        }
        scratch.clear();
        scratch.extend_from_slice(row);
        if filled * SPARSE < self.size {
            self.choose_among_filled(row, scratch);
        } else {
            self.follow(row, scratch);
        }
    }

    fn follow(&self, row: &mut [u32], before: &[u32]) {
        for (i, value) in row.iter_mut().enumerate() {
            if *value == EMPTY {
                let line = &self.sequences[i * self.size..(i + 1) * self.size];
                *value = line.iter().map(|&s| before[usize::from(s)]).find(|&value| value != EMPTY).unwrap_or(EMPTY);
            }
        }
    }

    fn choose_among_filled(&self, row: &mut [u32], before: &[u32]) {
        let mut nearest = vec![u16::MAX; self.size];
        for (s, _) in before.iter().enumerate().filter(|&(_, &value)| value != EMPTY) {
            lower(&mut nearest, &self.ranks[s * self.size..(s + 1) * self.size]);
        }
        for (i, value) in row.iter_mut().enumerate() {
            let s = self.sequences[i * self.size + usize::from(nearest[i])];
            *value = before[usize::from(s)];
        }
    }
}

for_each_cpu! {
    fn lower(nearest: &mut [u16], ranks: &[u16]) {
        for (least, &rank) in nearest.iter_mut().zip(ranks) {
            *least = (*least).min(rank);
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
