//! A table from the hashes of features to their weights, in which many are looked up at a time.

use crate::for_each_cpu;
use crate::sketches::one_permutation::scaled;
use crate::text::hashing::poly64::BASE;

/// Places of a group, which fill a cache line and are compared at once.
const PLACES: usize = 8;
/// Hashes for which there is a group: few groups then overflow.
const HASHES_A_GROUP: usize = 4;

#[derive(Default)]
pub struct WeightTable {
    groups: Vec<Group>,
    /// How many places of each group are taken: the groups themselves are never cleared.
    taken: Vec<u8>,
}

#[derive(Clone, Copy, Default)]
struct Group {
    hashes: [u64; PLACES],
    weights: [u32; PLACES],
}

impl WeightTable {
    /// Hold these hashes, each of which comes once, with their weights.
    pub fn fill(&mut self, hashes: &[u64], weights: &[u32]) {
        let groups = hashes.len() / HASHES_A_GROUP + 1;
        self.groups.resize(groups, Group::default());
        self.taken.clear();
        self.taken.resize(groups, 0);
        for (&hash, &weight) in hashes.iter().zip(weights) {
            self.insert(hash, weight);
        }
    }

    fn insert(&mut self, hash: u64, weight: u32) {
        let mut place = place_of(hash, self.groups.len());
        while usize::from(self.taken[place]) == PLACES {
            place = (place + 1) % self.groups.len();
        }
        let next = usize::from(self.taken[place]);
        self.groups[place].hashes[next] = hash;
        self.groups[place].weights[next] = weight;
        self.taken[place] += 1;
    }

    /// Write the weight of each hash, or `missing`.
    pub fn weights_of(&self, hashes: &[u64], missing: u32, weights: &mut [u32]) {
        weights_of(&self.groups, &self.taken, hashes, missing, weights);
    }

    /// Add up the smaller of both weights of each hash; those that are not here have none.
    pub fn sum_of_minima(&self, hashes: &[u64], weights: &[u32]) -> u64 {
        sum_of_minima(&self.groups, &self.taken, hashes, weights)
    }

    /// Add up the products of both weights of each hash. The sum must be below 2^64.
    pub fn sum_of_products(&self, hashes: &[u64], weights: &[u32]) -> u64 {
        sum_of_products(&self.groups, &self.taken, hashes, weights)
    }
}

#[inline(always)]
fn place_of(hash: u64, groups: usize) -> usize {
    // A caller's hashes may differ in their low bits only.
    scaled(hash.wrapping_mul(BASE), groups as u64)
}

/// The weight of a hash, or `missing`. Whether it is there takes no branch: processors could not foresee it.
#[inline(always)]
fn weight_of(groups: &[Group], taken: &[u8], hash: u64, missing: u32) -> u32 {
    let mut place = place_of(hash, groups.len());
    loop {
        let group = &groups[place];
        let mut equal = 0_u32;
        for (j, &other) in group.hashes.iter().enumerate() {
            equal |= u32::from(other == hash) << j;
        }
        let filled = usize::from(taken[place]);
        equal &= (1 << filled) - 1;
        let weight = group.weights[equal.trailing_zeros() as usize % PLACES];
        if filled < PLACES || equal != 0 {
            return if equal == 0 { missing } else { weight };
        }
        place = (place + 1) % groups.len();
    }
}

for_each_cpu! {
    fn weights_of(groups: &[Group], taken: &[u8], hashes: &[u64], missing: u32, weights: &mut [u32]) {
        let taken = &taken[..groups.len()];
        for (&hash, weight) in hashes.iter().zip(weights) {
            *weight = weight_of(groups, taken, hash, missing);
        }
    }
}

for_each_cpu! {
    fn sum_of_minima(groups: &[Group], taken: &[u8], hashes: &[u64], weights: &[u32]) -> u64 {
        let taken = &taken[..groups.len()];
        let mut sum = 0;
        for (&hash, &weight) in hashes.iter().zip(weights) {
            sum += u64::from(weight.min(weight_of(groups, taken, hash, 0)));
        }
        sum
    }
}

for_each_cpu! {
    fn sum_of_products(groups: &[Group], taken: &[u8], hashes: &[u64], weights: &[u32]) -> u64 {
        let taken = &taken[..groups.len()];
        let mut sum = 0;
        for (&hash, &weight) in hashes.iter().zip(weights) {
            sum += u64::from(weight) * u64::from(weight_of(groups, taken, hash, 0));
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::hashing::poly64::fmix64;

    #[test]
    fn hashes_have_the_weights_that_they_came_with() {
        let mut table = WeightTable::default();
        for count in [0, 1, 8, 9, 1_000, 20_000, 3] {
            // Every other hash differs from its neighbour in the highest bits only.
            let hashes: Vec<u64> = (0..count).map(|i| if i % 2 == 0 { fmix64(i) } else { i << 48 | 1 }).collect();
            let weights: Vec<u32> = (0..count).map(|i| i as u32 + 1).collect();
            table.fill(&hashes, &weights);
            let mut found = vec![0; hashes.len()];
            table.weights_of(&hashes, 0, &mut found);
            assert_eq!(found, weights);
            table.weights_of(&hashes.iter().map(|hash| hash ^ 2).collect::<Vec<_>>(), 7, &mut found);
            assert!(found.iter().all(|&value| value == 7));
        }
    }

    #[test]
    fn a_full_group_overflows_into_the_next() {
        let mut table = WeightTable::default();
        // Hashes of the same group: multiplied by BASE, they agree in their high bits.
        let inverse = (0..6).fold(BASE, |x, _| x.wrapping_mul(2_u64.wrapping_sub(BASE.wrapping_mul(x))));
        let hashes: Vec<u64> = (0..100).map(|i: u64| i.wrapping_mul(inverse)).collect();
        let weights: Vec<u32> = (0..100).collect();
        table.fill(&hashes, &weights);
        assert_eq!(table.sum_of_minima(&hashes, &weights), (0..100).sum());
        assert_eq!(table.sum_of_products(&hashes, &weights), (0..100).map(|i| i * i).sum());
        assert_eq!(table.sum_of_minima(&[fmix64(1), 1], &[5, 5]), 0);
    }
}
