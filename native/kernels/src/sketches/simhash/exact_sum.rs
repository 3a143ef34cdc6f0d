//! Sums of doubles without any rounding.

/// A sum as numbers that do not overlap, the smallest first (Shewchuk, "Adaptive precision floating-point arithmetic
/// and fast robust geometric predicates", 1997, as in Python's `math.fsum`).
#[derive(Default)]
pub struct ExactSum {
    parts: Vec<f64>,
}

impl ExactSum {
    pub fn clear(&mut self) {
        self.parts.clear();
    }

    /// Add a number; no sum of absolute values may pass the largest double.
    pub fn add(&mut self, number: f64) {
        let mut rest = number;
        let mut kept = 0;
        for i in 0..self.parts.len() {
            let part = self.parts[i];
            let (large, small) = if rest.abs() < part.abs() { (part, rest) } else { (rest, part) };
            let sum = large + small;
            let lost = small - (sum - large);
            if lost != 0.0 {
                self.parts[kept] = lost;
                kept += 1;
            }
            rest = sum;
        }
        self.parts.truncate(kept);
        if rest != 0.0 {
            self.parts.push(rest);
        }
    }

    /// Whether the sum is above 0: the last number exceeds all others together.
    pub fn is_positive(&self) -> bool {
        self.parts.last().is_some_and(|&part| part > 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_positive(numbers: &[f64]) -> bool {
        let mut sum = ExactSum::default();
        numbers.iter().for_each(|&number| sum.add(number));
        sum.is_positive()
    }

    #[test]
    fn the_sign_is_that_of_the_exact_sum() {
        assert!(is_positive(&[1e300, 5e-324, -1e300]));
        assert!(!is_positive(&[1e300, -5e-324, -1e300]));
        assert!(!is_positive(&[0.1, 0.2, -0.1, -0.2]));
        assert!(is_positive(&[0.1, 0.2, -0.3]));
        assert!(!is_positive(&[-0.1, -0.2, 0.3]));
        assert!(!is_positive(&[]));
    }
}
