//! SimHash with fractional weights: sums are rounded, and made again without rounding where that could matter.

use super::exact_sum::ExactSum;
use crate::for_each_cpu;
use crate::stop;
use crate::text::Refused;

/// Above this, sums might pass the largest double: the numpy way decides whether they do.
const MAX_TOTAL: f64 = f64::MAX / 4.0;

/// The SimHash of hashes with finite weights, of either sign.
pub fn weighted_by_floats(hashes: &[u64], weights: &[f64]) -> Result<u64, Refused> {
    let total: f64 = weights.iter().map(|weight| weight.abs()).sum();
    if total.is_nan() || total > MAX_TOTAL {
        return Err(Refused);
    }
    let mut sums = [0.0; 64];
    for (hashes, weights) in stop::parts(hashes).zip(weights.chunks(stop::FEW)) {
        add(hashes, weights, &mut sums);
    }
    // Each of the additions of a sum errs by less than this share of the total.
    let doubt = total * weights.len() as f64 * f64::EPSILON;
    let mut exact = ExactSum::default();
    let mut simhash = 0;
    for (bit, sum) in sums.into_iter().enumerate() {
        let is_set = if sum.abs() > doubt { sum > 0.0 } else { is_positive(hashes, weights, bit, &mut exact) };
        simhash |= u64::from(is_set) << bit;
    }
    Ok(simhash)
}

for_each_cpu! {
    /// Add up weights for each bit, the lowest first.
    fn add(hashes: &[u64], weights: &[f64], all: &mut [f64; 64]) {
        let mut sums = *all;
        for (&hash, &weight) in hashes.iter().zip(weights) {
            for (bit, sum) in sums.iter_mut().enumerate() {
                *sum += if hash & 1 << bit == 0 { -weight } else { weight };
            }
        }
        *all = sums;
    }
}

fn is_positive(hashes: &[u64], weights: &[f64], bit: usize, sum: &mut ExactSum) -> bool {
    sum.clear();
    for (place, (&hash, &weight)) in hashes.iter().zip(weights).enumerate() {
        stop::look_at(place);
        sum.add(if hash & 1 << bit == 0 { -weight } else { weight });
    }
    sum.is_positive()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_too_small_to_change_a_rounded_sum_decide() {
        assert_eq!(weighted_by_floats(&[1, 2, 1], &[1e300, 1e300, 5e-324]), Ok(1));
        assert_eq!(weighted_by_floats(&[1, 2, 2], &[1e300, 1e300, 5e-324]), Ok(2));
        assert_eq!(weighted_by_floats(&[3, 4], &[0.5, 0.5]), Ok(0));
        assert_eq!(weighted_by_floats(&[3, 4], &[0.25, -0.5]), Ok(u64::MAX - 4));
        assert_eq!(weighted_by_floats(&[], &[]), Ok(0));
    }

    #[test]
    fn weights_that_add_up_to_too_much_are_refused() {
        assert_eq!(weighted_by_floats(&[1, 2], &[1e308, 1e308]), Err(Refused));
        assert_eq!(weighted_by_floats(&[1], &[f64::NAN]), Err(Refused));
        assert_eq!(weighted_by_floats(&[1], &[f64::INFINITY]), Err(Refused));
    }
}
