//! Winnowing: few hashes of a text's n-grams (defined in `es_simhash.scheme.passages`).

use crate::bits::bits_of;
use crate::text::hashing::poly64::{BASE, fmix64};
use crate::{for_each_cpu, stop};

/// Hashes are compared in blocks of this many, as the bits of a word.
const BLOCK: usize = 64;

/// Of each `window` n-grams in a row, the smallest hash is chosen.
#[derive(Clone, Copy)]
pub struct Winnowing {
    n: usize,
    window: usize,
}

/// What one thread winnows in: each step reads `from`, and writes what the next one reads.
#[derive(Default)]
pub struct Scratch {
    from: Vec<u64>,
    to: Vec<u64>,
}

impl Winnowing {
    /// Return none for n-grams of nothing, or windows of none.
    pub fn new(n: usize, window: usize) -> Option<Self> {
        (n > 0 && window > 0).then_some(Self { n, window })
    }

    /// Append the chosen hashes of a text, given those of its tokens; the same one as in the window before is left out.
    pub fn choose(&self, tokens: &[u64], scratch: &mut Scratch, chosen: &mut Vec<u64>) {
        if tokens.len() < self.n {
            return;
        }
        scratch.from.clear();
        scratch.from.extend_from_slice(tokens);
        scratch.join_tokens(tokens, self.n);
        scratch.find_minima(self.window);
        append_changes(&scratch.from, chosen);
    }
}

impl Scratch {
    /// Replace the tokens by the hashes of their n-grams.
    fn join_tokens(&mut self, tokens: &[u64], n: usize) {
        let mut size = 1;
        for bit in (0..n.ilog2()).rev() {
            // Two runs of a length make one of twice that length, and a token more the next one.
            let factor = power(size);
            self.step(size, |from, after, to| join(from, factor, after, to));
            size *= 2;
            if n >> bit & 1 == 1 {
                let others = &tokens[size..];
                let (from, to) = (&self.from, &mut self.to);
                stop::resize(to, others.len());
                in_parts(to, |start, part| join(&from[start..], BASE, &others[start..], part));
                std::mem::swap(&mut self.from, &mut self.to);
                size += 1;
            }
        }
        let length = power(n).wrapping_mul(n as u64);
        stop::parts_mut(&mut self.from).for_each(|part| mix(length, part));
    }

    /// Replace the hashes by the smallest of each window; fewer of them are one window.
    fn find_minima(&mut self, window: usize) {
        let (mut size, window) = (1, window.min(self.from.len()));
        while size < window {
            let step = size.min(window - size);
            self.step(step, least);
            size += step;
        }
    }

    /// Combine each number with the one that stands `distance` after it, as far as there is one.
    fn step(&mut self, distance: usize, combine: impl Fn(&[u64], &[u64], &mut [u64])) {
        let Self { from, to } = self;
        stop::resize(to, from.len() - distance);
        in_parts(to, |start, part| combine(&from[start..], &from[start + distance..], part));
        std::mem::swap(from, to);
    }
}

/// Fill numbers in parts, which are given with their first place.
fn in_parts(to: &mut [u64], fill: impl Fn(usize, &mut [u64])) {
    let mut start = 0;
    for part in stop::parts_mut(to) {
        fill(start, part);
        start += part.len();
    }
}

fn power(exponent: usize) -> u64 {
    BASE.wrapping_pow(exponent as u32)
}

for_each_cpu! {
    /// Write the polynomials of runs that go on with the `others`, whose size the factor is of.
    fn join(runs: &[u64], factor: u64, others: &[u64], to: &mut [u64]) {
        for ((to, &run), &other) in to.iter_mut().zip(runs).zip(others) {
            *to = run.wrapping_mul(factor).wrapping_add(other);
        }
    }
}

for_each_cpu! {
    /// Turn polynomials into hashes, in place.
    fn mix(length: u64, polynomials: &mut [u64]) {
        for p in polynomials {
            *p = fmix64(p.wrapping_add(length));
        }
    }
}

for_each_cpu! {
    /// Write the lesser of each two.
    fn least(first: &[u64], second: &[u64], to: &mut [u64]) {
        for ((to, &a), &b) in to.iter_mut().zip(first).zip(second) {
            *to = a.min(b);
        }
    }
}

for_each_cpu! {
    /// Append each number that is not the one before it.
    fn append_changes(numbers: &[u64], changed: &mut Vec<u64>) {
        let Some(&first) = numbers.first() else { return };
        changed.push(first);
        let mut looks = stop::Looks::after(0);
        for (block, (before, here)) in numbers.chunks(BLOCK).zip(numbers[1..].chunks(BLOCK)).enumerate() {
            looks.at(block * BLOCK);
            let mut flags = [0; BLOCK];
            for ((flag, a), b) in flags.iter_mut().zip(before).zip(here) {
                *flag = u8::from(a != b);
            }
            let mut left = bits_of(&flags);
            while left != 0 {
                changed.push(here[left.trailing_zeros() as usize]);
                left &= left - 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gram(tokens: &[u64]) -> u64 {
        let polynomial = |value: u64, &token: &u64| value.wrapping_mul(BASE).wrapping_add(token);
        fmix64(tokens.iter().fold(tokens.len() as u64, polynomial))
    }

    fn by_definition(tokens: &[u64], n: usize, window: usize) -> Vec<u64> {
        let grams: Vec<u64> = tokens.windows(n).map(gram).collect();
        let smallest = |window: &[u64]| *window.iter().min().expect("a window has hashes");
        let mut chosen: Vec<u64> = match grams.len() {
            0 => Vec::new(),
            count => grams.windows(window.min(count)).map(smallest).collect(),
        };
        chosen.dedup();
        chosen
    }

    #[test]
    fn the_smallest_hash_of_each_window_of_n_grams_is_chosen() {
        let mut scratch = Scratch::default();
        for case in 0..crate::tried(2_000) {
            let drawn = |i: u64| fmix64(case << 32 | i) % (2 + case % 50);
            let tokens: Vec<u64> = (0..drawn(0) * 7).map(|i| drawn(i + 3)).collect();
            let (n, window) = (1 + drawn(1) as usize, 1 + drawn(2) as usize);
            let mut chosen = vec![7];
            Winnowing::new(n, window).expect("both are positive").choose(&tokens, &mut scratch, &mut chosen);
            assert_eq!(chosen[0], 7);
            assert_eq!(chosen[1..], by_definition(&tokens, n, window), "{n} {window} {tokens:?}");
        }
    }

    #[test]
    fn n_grams_and_windows_have_something_in_them() {
        assert!(Winnowing::new(0, 1).is_none() && Winnowing::new(1, 0).is_none());
    }
}
