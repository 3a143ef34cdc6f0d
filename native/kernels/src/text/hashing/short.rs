//! poly64 of many short tokens at once: one after the other, a processor would wait for each product.

use super::poly64::{BASE, word_at};
use crate::for_each_cpu;

/// Tokens that are hashed at once.
pub const BLOCK: usize = 64;
/// Units of the longest tokens that are hashed so: most are no longer.
const LONGEST: usize = 12;
const UNITS_A_WORD: usize = 4;

for_each_cpu! {
    /// Write the polynomials of up to `BLOCK` tokens, which begin and end at these units; return whether all are short.
    pub fn polynomials(units: &[u16], starts: &[usize], ends: &[usize], polynomials: &mut [u64]) -> bool {
        let (mut lengths, mut longest) = ([0; BLOCK], 0);
        for ((length, start), end) in lengths.iter_mut().zip(starts).zip(ends) {
            *length = (end - start) as u64;
            longest = longest.max(*length);
        }
        polynomials.copy_from_slice(&lengths[..polynomials.len()]);
        for done in (0..LONGEST.min(longest as usize)).step_by(UNITS_A_WORD) {
            let mut words = [0; BLOCK];
            for (word, start) in words.iter_mut().zip(starts) {
                *word = word_at(units, start + done);
            }
            for ((p, word), length) in polynomials.iter_mut().zip(&words).zip(&lengths) {
                let left = length.saturating_sub(done as u64);
                let (factor, kept) = if left > 0 { (BASE, first_units(left)) } else { (1, 0) };
                *p = p.wrapping_mul(factor).wrapping_add(word & kept);
            }
        }
        longest <= LONGEST as u64
    }
}

/// A mask that keeps the first units of a word, one or more.
#[inline(always)]
fn first_units(count: u64) -> u64 {
    u64::MAX >> (64 - 16 * count.min(UNITS_A_WORD as u64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::hashing::poly64::{fmix64, polynomial};

    #[test]
    fn short_tokens_have_their_polynomials() {
        let units: Vec<u16> = (0..100_u16).map(|i| i.wrapping_mul(40_503) ^ 7).collect();
        for case in 0..crate::tried(500) {
            let drawn = |i: u64| fmix64(case << 32 | i) as usize;
            let most = drawn(0) % (LONGEST + 3);
            let starts: Vec<usize> = (1..=drawn(1) as u64 % (BLOCK as u64 + 1)).map(|i| drawn(i) % 101).collect();
            let ends: Vec<usize> =
                starts.iter().map(|start| (start + drawn(*start as u64) % (most + 1)).min(100)).collect();
            let tokens = || starts.iter().zip(&ends).map(|(&start, &end)| &units[start..end]);
            let mut found = vec![1; starts.len()];
            let are_short = polynomials(&units, &starts, &ends, &mut found);
            assert_eq!(are_short, tokens().all(|token| token.len() <= LONGEST));
            for (found, token) in found.iter().zip(tokens()).filter(|(_, token)| token.len() <= LONGEST) {
                assert_eq!(*found, polynomial(token), "{token:?}");
            }
        }
    }
}
