//! Weighted MinHash by consistent weighted sampling (defined in `es_simhash.sketches.minhash.weighted`).

use super::logarithm::{ln, ln_of_normal};
use crate::text::hashing::poly64::{BASE, fmix64};
use crate::{for_each_cpu, stop};

const DRAWS: usize = 1 << 13;
/// Hashes whose samples are drawn before somebody could interrupt it.
const HASHES: usize = stop::FEW;

/// The random numbers of a signature's positions.
pub struct Samples {
    keys: Vec<u64>,
    /// The exponentially distributed number of each draw of 13 bits.
    exponentials: Box<[f64; DRAWS]>,
}

/// What one thread works in.
#[derive(Default)]
pub struct Scratch {
    ln_weights: Vec<f64>,
    times: Vec<f64>,
    ln_a: Vec<f64>,
}

impl Samples {
    pub fn new(size: usize) -> Self {
        let exponentials = Box::new(std::array::from_fn(|j| -ln((j as f64 + 0.5) / DRAWS as f64)));
        Self { keys: (1..=size as u64).map(fmix64).collect(), exponentials }
    }

    pub fn size(&self) -> usize {
        self.keys.len()
    }

    /// Write the values of distinct features in the order of their hashes, whose weights are positive and finite.
    ///
    /// A row of no features stays as it is.
    pub fn fill(&self, row: &mut [u32], hashes: &[u64], weights: &[f64], scratch: &mut Scratch) {
        if hashes.is_empty() {
            return;
        }
        scratch.ln_weights.clear();
        stop::extend(&mut scratch.ln_weights, weights.iter().map(|&weight| ln(weight)));
        stop::resize(&mut scratch.times, hashes.len());
        stop::resize(&mut scratch.ln_a, hashes.len());
        for (value, &key) in row.iter_mut().zip(&self.keys) {
            for start in (0..hashes.len()).step_by(HASHES) {
                let part = start..hashes.len().min(start + HASHES);
                if part.len() == HASHES {
                    stop::look();
                }
                let (times, ln_a) = (&mut scratch.times[part.clone()], &mut scratch.ln_a[part.clone()]);
                sample(&hashes[part.clone()], &scratch.ln_weights[part], key, &self.exponentials, times, ln_a);
            }
            let chosen = first_smallest(&scratch.ln_a[..hashes.len()]);
            let time = scratch.times[chosen] as i64 as u64;
            *value = (fmix64(hashes[chosen].wrapping_mul(BASE).wrapping_add(time)) >> 32) as u32;
        }
    }
}

for_each_cpu! {
    /// Write t and ln a of each feature.
    fn sample(
        hashes: &[u64],
        ln_weights: &[f64],
        key: u64,
        exponentials: &[f64; DRAWS],
        times: &mut [f64],
        ln_a: &mut [f64],
    ) {
        let count = hashes.len();
        let (ln_weights, times, ln_a) = (&ln_weights[..count], &mut times[..count], &mut ln_a[..count]);
        for i in 0..count {
            let m = fmix64(hashes[i] ^ key);
            let drawn = |shift: u32| exponentials[(m >> shift) as usize % DRAWS];
            let r = drawn(51) + drawn(38);
            let c = drawn(25) + drawn(12);
            let beta = (f64::from(m as u32 & 0xFFF) + 0.5) * (1.0 / 4096.0);
            let time = (ln_weights[i] / r + beta).floor();
            times[i] = time;
            ln_a[i] = ln_of_normal(c) - (time - beta + 1.0) * r;
        }
    }
}

for_each_cpu! {
    /// The position of the first of the smallest numbers.
    fn first_smallest(numbers: &[f64]) -> usize {
        const LANES: usize = 16;
        let mut smallest = [f64::INFINITY; LANES];
        let (rows, rest) = numbers.as_chunks::<LANES>();
        for row in rows {
            for i in 0..LANES {
                smallest[i] = if row[i] < smallest[i] { row[i] } else { smallest[i] };
            }
        }
        let least = smallest.iter().chain(rest).fold(f64::INFINITY, |a, &b| if b < a { b } else { a });
        numbers.iter().position(|&number| number == least).unwrap_or(0)
    }
}
