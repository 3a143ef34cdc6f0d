//! A table from the hashes of features to their weights, in which many are looked up at a time.

use crate::sketches::one_permutation::scaled;
use crate::text::hashing::poly64::BASE;
use crate::{for_each_cpu, stop};

/// Places of a group, which fill a cache line and are compared at once.
const PLACES: usize = 8;
/// Hashes for which there is a group: few groups then overflow.
const HASHES_A_GROUP: usize = 4;

#[derive(Default)]
pub struct WeightTable {
    groups: Vec<Group>,
    /// How many hashes each group was to hold: beyond its places, they went to the next one.
    wanted: Vec<u8>,
    /// The weight of all hashes that are not here.
    others: u32,
}

/// Hashes, and how their weights differ from that of others. Free places differ in nothing, whatever their hash.
#[derive(Clone, Copy, Default)]
struct Group {
    hashes: [u64; PLACES],
    differences: [u32; PLACES],
}

impl WeightTable {
    /// Hold these distinct hashes with their weights, and the weight of all others.
    pub fn fill(&mut self, hashes: &[u64], weights: &[u32], others: u32) {
        let groups = hashes.len() / HASHES_A_GROUP + 1;
        self.groups.clear();
        stop::resize(&mut self.groups, groups);
        self.wanted.clear();
        stop::resize(&mut self.wanted, groups);
        self.others = others;
        for (place, (&hash, &weight)) in hashes.iter().zip(weights).enumerate() {
            stop::look_at(place);
            // What weighs as others do needs no place.
            if weight != others {
                self.insert(hash, weight ^ others);
            }
        }
    }

    fn insert(&mut self, hash: u64, difference: u32) {
        let mut place = place_of(hash, self.groups.len());
        loop {
            let next = usize::from(self.wanted[place]);
            self.wanted[place] = self.wanted[place].saturating_add(1);
            if next < PLACES {
                let group = &mut self.groups[place];
                (group.hashes[next], group.differences[next]) = (hash, difference);
                return;
            }
            place = (place + 1) % self.groups.len();
        }
    }

    /// Write the weight of each hash.
    pub fn weights_of(&self, hashes: &[u64], weights: &mut [u32]) {
        weights_of(&self.groups, &self.wanted, self.others, hashes, weights);
    }

    /// Add up the smaller of both weights of each hash.
    pub fn sum_of_minima(&self, hashes: &[u64], weights: &[u32]) -> u64 {
        let sum = |hashes, weights| sum_of_minima(&self.groups, &self.wanted, self.others, hashes, weights);
        stop::parts(hashes).zip(weights.chunks(stop::FEW)).map(|(hashes, weights)| sum(hashes, weights)).sum()
    }
}

#[inline(always)]
fn place_of(hash: u64, groups: usize) -> usize {
    // A caller's hashes may differ in their low bits only.
    scaled(hash.wrapping_mul(BASE), groups as u64)
}

/// The weight of a hash. Whether it is there takes no branch: processors could not foresee it.
#[inline(always)]
fn weight_of(groups: &[Group], wanted: &[u8], others: u32, hash: u64) -> u32 {
    let mut place = place_of(hash, groups.len());
    let mut difference = 0;
    loop {
        let group = &groups[place];
        for j in 0..PLACES {
            let mask = u32::from(group.hashes[j] == hash).wrapping_neg();
            difference |= group.differences[j] & mask;
        }
        if usize::from(wanted[place]) <= PLACES {
            return others ^ difference;
        }
        place = (place + 1) % groups.len();
    }
}

for_each_cpu! {
    fn weights_of(groups: &[Group], wanted: &[u8], others: u32, hashes: &[u64], weights: &mut [u32]) {
        let wanted = &wanted[..groups.len()];
        for (&hash, weight) in hashes.iter().zip(weights) {
            *weight = weight_of(groups, wanted, others, hash);
        }
    }
}

for_each_cpu! {
    fn sum_of_minima(groups: &[Group], wanted: &[u8], others: u32, hashes: &[u64], weights: &[u32]) -> u64 {
        let wanted = &wanted[..groups.len()];
        let mut sum = 0;
        for (&hash, &weight) in hashes.iter().zip(weights) {
            sum += u64::from(weight.min(weight_of(groups, wanted, others, hash)));
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::hashing::poly64::fmix64;
    use crate::tried;

    #[test]
    fn hashes_have_the_weights_that_they_came_with() {
        let mut table = WeightTable::default();
        for count in [0, 1, 8, 9, tried(1_000), tried(20_000), 3] {
            // Every other hash differs from its neighbour in the highest bits only.
            let hashes: Vec<u64> = (0..count).map(|i| if i % 2 == 0 { fmix64(i) } else { i << 48 | 1 }).collect();
            let weights: Vec<u32> = (0..count).map(|i| i as u32).collect();
            for others in [0, 7] {
                table.fill(&hashes, &weights, others);
                let mut found = vec![0; hashes.len()];
                table.weights_of(&hashes, &mut found);
                assert_eq!(found, weights);
                table.weights_of(&hashes.iter().map(|hash| hash ^ 2).collect::<Vec<_>>(), &mut found);
                assert!(found.iter().all(|&weight| weight == others));
            }
        }
    }

    #[test]
    fn a_full_group_overflows_into_the_next() {
        let mut table = WeightTable::default();
        // Hashes of the same group: multiplied by BASE, they agree in their high bits.
        let inverse = (0..6).fold(BASE, |x, _| x.wrapping_mul(2_u64.wrapping_sub(BASE.wrapping_mul(x))));
        let hashes: Vec<u64> = (0..100).map(|i: u64| i.wrapping_mul(inverse)).collect();
        let weights: Vec<u32> = (0..100).collect();
        table.fill(&hashes, &weights, 0);
        assert_eq!(table.sum_of_minima(&hashes, &weights), (0..100).sum());
        assert_eq!(table.sum_of_minima(&[fmix64(1), 1], &[5, 5]), 0);
    }
}
