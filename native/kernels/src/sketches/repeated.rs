//! Repeated features with the sums of their weights (see `es_simhash.text.features.distinct`).

use crate::stop;
use crate::text::Refused;
use crate::text::weighted::Weights;

/// The distinct features of positive weight, in the order of their hashes.
#[derive(Default)]
pub struct Summed {
    pub hashes: Vec<u64>,
    pub weights: Vec<f64>,
    /// Each hash with its position: equal ones stay in the order of the text.
    order: Vec<(u64, usize)>,
    /// The weights of one feature.
    run: Vec<f64>,
}

impl Summed {
    /// Read the features of a text; weights that are negative, or that add up to no finite number, are refused.
    pub fn read(&mut self, hashes: &[u64], weights: &Weights) -> Result<(), Refused> {
        self.hashes.clear();
        self.weights.clear();
        self.order.clear();
        stop::extend(&mut self.order, hashes.iter().copied().zip(0..hashes.len()));
        stop::sort(&mut self.order);
        match weights {
            Weights::One => self.sum(|run, _| Ok(run.len() as f64)),
            Weights::Integers(weights) if weights.iter().any(|&weight| weight < 0) => Err(Refused),
            Weights::Integers(weights) => {
                self.sum(|run, _| Ok(run.iter().fold(0_i64, |sum, &(_, i)| sum.wrapping_add(weights[i])) as f64))
            }
            Weights::Floats(weights) => self.sum(|run, terms| {
                terms.clear();
                terms.extend(run.iter().map(|&(_, i)| weights[i]));
                let is_good = |&weight: &f64| weight.is_finite() && weight >= 0.0;
                let sum = reduced(terms);
                if terms.iter().all(is_good) && sum.is_finite() { Ok(sum) } else { Err(Refused) }
            }),
        }
    }

    /// Keep each feature with the sum that `sum_of` gives for its places.
    fn sum(
        &mut self,
        mut sum_of: impl FnMut(&[(u64, usize)], &mut Vec<f64>) -> Result<f64, Refused>,
    ) -> Result<(), Refused> {
        for (place, run) in self.order.chunk_by(|a, b| a.0 == b.0).enumerate() {
            stop::look_at(place);
            let sum = sum_of(run, &mut self.run)?;
            if sum > 0.0 {
                self.hashes.push(run[0].0);
                self.weights.push(sum);
            }
        }
        Ok(())
    }
}

/// The sum of some numbers, rounded as by `numpy.add.reduceat`: the first, and the pairwise sum of the others.
fn reduced(terms: &[f64]) -> f64 {
    match terms {
        [] => 0.0,
        [only] => *only,
        [first, others @ ..] => first + pairwise(others),
    }
}

/// The sum of numbers as numpy adds them, in an order of its own.
fn pairwise(terms: &[f64]) -> f64 {
    const LANES: usize = 8;
    const BLOCK: usize = 128;
    if terms.len() > BLOCK {
        let half = terms.len() / 2;
        let (left, right) = terms.split_at(half - half % LANES);
        return pairwise(left) + pairwise(right);
    }
    let (rows, rest) = terms.as_chunks::<LANES>();
    let Some((first, rows)) = rows.split_first() else {
        return rest.iter().fold(-0.0, |sum, term| sum + term);
    };
    let mut sums = *first;
    for row in rows {
        for (sum, term) in sums.iter_mut().zip(row) {
            *sum += term;
        }
    }
    let [a, b, c, d, e, f, g, h] = sums;
    rest.iter().fold(((a + b) + (c + d)) + ((e + f) + (g + h)), |sum, term| sum + term)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_of_a_repeated_feature_add_up() {
        let mut summed = Summed::default();
        assert_eq!(summed.read(&[9, 3, 9, 5], &Weights::Integers(vec![1, 2, 3, 0])), Ok(()));
        assert_eq!((&summed.hashes[..], &summed.weights[..]), (&[3, 9][..], &[2.0, 4.0][..]));
        assert_eq!(summed.read(&[9, 3, 9, 5], &Weights::One), Ok(()));
        assert_eq!((&summed.hashes[..], &summed.weights[..]), (&[3, 5, 9][..], &[1.0, 1.0, 2.0][..]));
        assert_eq!(summed.read(&[9, 9], &Weights::Floats(vec![0.1, 0.2])), Ok(()));
        assert_eq!((&summed.hashes[..], &summed.weights[..]), (&[9][..], &[0.1 + 0.2][..]));
    }

    #[test]
    fn unusable_weights_are_refused() {
        let mut summed = Summed::default();
        for weights in [vec![-1.0, 1.0], vec![f64::NAN, 1.0], vec![1e308, 1e308]] {
            assert_eq!(summed.read(&[1, 1], &Weights::Floats(weights)), Err(Refused));
        }
        assert_eq!(summed.read(&[1, 1], &Weights::Integers(vec![3, -1])), Err(Refused));
    }
}
