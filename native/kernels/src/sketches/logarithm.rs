//! The natural logarithm that weighted MinHash defines (`es_simhash.sketches.minhash.weighted.ln`).
//!
//! Each operation is rounded by itself, so that all machines compute the same bits.

use std::f64::consts::{FRAC_1_SQRT_2 as SQRT_HALF, LN_2};

const MANTISSA: u64 = (1 << 52) - 1;
/// The exponent of numbers from 1/2 up to 1, as a double holds it.
const HALF: u64 = 1022;

/// The logarithm of a positive finite number.
pub fn ln(x: f64) -> f64 {
    if x < f64::MIN_POSITIVE {
        let scaled = x * (1_u64 << 54) as f64;
        return of_parts(mantissa(scaled), exponent(scaled) - 54);
    }
    ln_of_normal(x)
}

/// The same of a number that is not subnormal.
#[inline(always)]
pub fn ln_of_normal(x: f64) -> f64 {
    of_parts(mantissa(x), exponent(x))
}

/// The number scaled by a power of two to 1/2 or more and less than 1.
#[inline(always)]
fn mantissa(x: f64) -> f64 {
    f64::from_bits(x.to_bits() & MANTISSA | HALF << 52)
}

/// That power of two.
#[inline(always)]
fn exponent(x: f64) -> i32 {
    (x.to_bits() >> 52) as i32 - HALF as i32
}

#[inline(always)]
fn of_parts(m: f64, k: i32) -> f64 {
    let s = (m - SQRT_HALF) / (m + SQRT_HALF);
    let z = s * s;
    let mut series = z * (2.0 / 9.0);
    for coefficient in [2.0 / 7.0, 2.0 / 5.0, 2.0 / 3.0] {
        series = (series + coefficient) * z;
    }
    series = (series + 2.0) * s;
    (f64::from(k) - 0.5) * LN_2 + series
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_logarithm_is_near() {
        for x in [5e-324, 1e-310, 1e-300, 0.5, SQRT_HALF, 1.0, 2.0, 3.7, 1e300, f64::MAX] {
            assert!((ln(x) - x.ln()).abs() < 1e-9 * x.ln().abs().max(1.0), "of {x}");
        }
    }
}
