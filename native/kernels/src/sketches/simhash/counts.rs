//! SimHash of hashes that weigh alike: their bits are counted in parallel.
//!
//! Carry-save adders (Warren, Hacker's Delight, 5-2) add hashes eight at a time, each in a lane of its own. What they
//! count stays sliced: plane i holds bit i of all 64 counts. The planes of the lanes are added, and compared with half
//! of the number of hashes, in the same form, so that nothing loops over bits.

use crate::for_each_cpu;

const LANES: usize = 8;
/// Rows of hashes that are added at once.
const ROWS: usize = 8;
/// Counts of up to 2^32 - 1 hashes a lane.
const PLANES: usize = 32;

type Lanes = [u64; LANES];

for_each_cpu! {
    /// The SimHash of hashes that each weigh 1: bit b is set if more than half of them set it.
    pub fn unweighted(hashes: &[u64]) -> u64 {
        let mut planes = [[0; LANES]; PLANES];
        let used = count(hashes, &mut planes);
        majority(&mut planes, used, hashes.len() as u64)
    }
}

/// Count the bits of all hashes in the lanes of `planes`; return how many planes are used.
#[inline(always)]
fn count(hashes: &[u64], planes: &mut [Lanes; PLANES]) -> usize {
    let (rows, rest) = hashes.as_chunks::<LANES>();
    let (blocks, rows) = rows.as_chunks::<ROWS>();
    let mut last = [[0; LANES]; ROWS];
    last[..rows.len()].copy_from_slice(rows);
    last[rows.len()][..rest.len()].copy_from_slice(rest);
    let [mut ones, mut twos, mut fours] = [[0; LANES]; 3];
    let mut used = 3;
    for block in blocks.iter().chain([&last]) {
        let two_a = add(&mut ones, &block[0], &block[1]);
        let two_b = add(&mut ones, &block[2], &block[3]);
        let four_a = add(&mut twos, &two_a, &two_b);
        let two_a = add(&mut ones, &block[4], &block[5]);
        let two_b = add(&mut ones, &block[6], &block[7]);
        let four_b = add(&mut twos, &two_a, &two_b);
        let eight = add(&mut fours, &four_a, &four_b);
        used = used.max(carry_up(planes, 3, eight));
    }
    [planes[0], planes[1], planes[2]] = [ones, twos, fours];
    used
}

/// Add three numbers bit by bit: the sum overwrites the first, the carry is returned.
#[inline(always)]
fn add(a: &mut Lanes, b: &Lanes, c: &Lanes) -> Lanes {
    let mut carry = [0; LANES];
    for i in 0..LANES {
        let both = a[i] ^ b[i];
        carry[i] = (a[i] & b[i]) | (both & c[i]);
        a[i] = both ^ c[i];
    }
    carry
}

/// Add a one-bit number to the counts from plane `first` on; return how many planes are in use afterwards.
#[inline(always)]
fn carry_up(planes: &mut [Lanes; PLANES], first: usize, mut carry: Lanes) -> usize {
    let mut plane = first;
    while plane < PLANES && carry != [0; LANES] {
        for i in 0..LANES {
            let sum = planes[plane][i] ^ carry[i];
            carry[i] &= planes[plane][i];
            planes[plane][i] = sum;
        }
        plane += 1;
    }
    plane
}

/// Add up the lanes, and return the bits whose counts exceed half of `hashes`.
#[inline(always)]
fn majority(planes: &mut [Lanes; PLANES], used: usize, hashes: u64) -> u64 {
    let mut used = used;
    for width in [4, 2, 1] {
        let mut carry = [0; LANES];
        for plane in planes.iter_mut().take(used) {
            for i in 0..width {
                let (a, b, c) = (plane[i], plane[i + width], carry[i]);
                let both = a ^ b;
                plane[i] = both ^ c;
                carry[i] = (a & b) | (both & c);
            }
        }
        if used < PLANES {
            planes[used][..width].copy_from_slice(&carry[..width]);
            used += 1;
        }
    }
    let half = hashes / 2;
    let (mut above, mut equal) = (0, u64::MAX);
    for i in (0..used).rev() {
        let bits = planes[i][0];
        if half >> i & 1 == 0 {
            above |= equal & bits;
            equal &= !bits;
        } else {
            equal &= bits;
        }
    }
    // A count above all planes is none: they hold every count.
    if used < 64 && half >> used != 0 { 0 } else { above }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::hashing::poly64::fmix64;
    use crate::tried;

    fn expected(hashes: &[u64]) -> u64 {
        (0..64).filter(|b| 2 * hashes.iter().filter(|&h| h >> b & 1 == 1).count() > hashes.len()).map(|b| 1 << b).sum()
    }

    #[test]
    fn a_bit_is_set_if_most_hashes_set_it() {
        for count in (0..tried(200)).chain([511, 512, tried(4_095), tried(10_000)]) {
            let hashes: Vec<u64> = (0..count).map(|i| fmix64(i) | 1 | fmix64(i + 7) >> 3).collect();
            assert_eq!(unweighted(&hashes), expected(&hashes), "{count} hashes");
        }
        assert_eq!(unweighted(&[u64::MAX; 1000]), u64::MAX);
        assert_eq!(unweighted(&[0; 1000]), 0);
    }
}
