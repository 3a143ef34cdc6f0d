//! SimHash with integer weights, whose sums wrap at 64 bits as numpy's do.

use crate::for_each_cpu;
use crate::stop;
use crate::text::Refused;

/// The SimHash of hashes with integer weights, of either sign.
pub fn weighted_by_integers(hashes: &[u64], weights: &[i64]) -> Result<u64, Refused> {
    // The numpy way takes absolute values, and this number has none.
    if weights.contains(&i64::MIN) {
        return Err(Refused);
    }
    let mut sums = Sums { bits: [0; 64], total: 0 };
    for (hashes, weights) in stop::parts(hashes).zip(weights.chunks(stop::FEW)) {
        add(hashes, weights, &mut sums);
    }
    // What sets a bit counts for it, and all else against it.
    let is_set = |sum: i64| sum.wrapping_mul(2).wrapping_sub(sums.total) > 0;
    Ok((0..64).map(|bit| u64::from(is_set(sums.bits[bit])) << bit).sum())
}

/// The weights of the hashes that set each bit, the lowest first, and of all.
struct Sums {
    bits: [i64; 64],
    total: i64,
}

for_each_cpu! {
    fn add(hashes: &[u64], weights: &[i64], sums: &mut Sums) {
        let (mut bits, mut total) = (sums.bits, sums.total);
        for (&hash, &weight) in hashes.iter().zip(weights) {
            for (bit, sum) in bits.iter_mut().enumerate() {
                *sum = sum.wrapping_add(if hash & 1 << bit == 0 { 0 } else { weight });
            }
            total = total.wrapping_add(weight);
        }
        *sums = Sums { bits, total };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::hashing::poly64::fmix64;
    use crate::tried;

    #[test]
    fn a_bit_shows_the_sign_of_its_sum() {
        for count in 0..tried(200) {
            let hashes: Vec<u64> = (0..count).map(fmix64).collect();
            let weights: Vec<i64> = (0..count).map(|i| (fmix64(i + 9) % 11) as i64 - 5).collect();
            let sum = |bit: u64| -> i64 {
                hashes.iter().zip(&weights).map(|(hash, w)| if hash >> bit & 1 == 1 { *w } else { -w }).sum()
            };
            let expected = (0..64).map(|bit| u64::from(sum(bit) > 0) << bit).sum();
            assert_eq!(weighted_by_integers(&hashes, &weights), Ok(expected), "{count} hashes");
        }
        assert_eq!(weighted_by_integers(&[1], &[i64::MIN]), Err(Refused));
    }
}
