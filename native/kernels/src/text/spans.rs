//! Tokens as spans of UTF-16 units (defined in `es_simhash.text.words`).

use super::hashing::poly64::polynomial_at;
use super::hashing::prefixes::Prefixes;
use super::hashing::{Hash, Width, short};
use super::points::Utf8;
use super::stop_words::StopWords;
use super::weighted::Features;
use super::{Refused, Text};
use crate::stop;

const SPACE: u16 = 0x20;
/// Tokens overlap more than this number of times where prefixes are quicker than reading each.
const READINGS: usize = 6;

/// Token i is made of the units from `starts[i]` up to `ends[i]`.
#[derive(Default)]
pub struct Spans {
    pub starts: Vec<usize>,
    pub ends: Vec<usize>,
}

impl Spans {
    pub fn clear(&mut self) {
        self.starts.clear();
        self.ends.clear();
    }

    pub fn push(&mut self, start: usize, end: usize) {
        self.starts.push(start);
        self.ends.push(end);
    }

    pub fn len(&self) -> usize {
        self.starts.len()
    }

    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// The tokens in parts, which are looked between.
    fn parts(&self) -> impl Iterator<Item = impl ExactSizeIterator<Item = (usize, usize)>> {
        let parts = stop::parts(&self.starts).zip(self.ends.chunks(stop::FEW));
        parts.map(|(starts, ends)| starts.iter().copied().zip(ends.iter().copied()))
    }

    pub fn iter(&self) -> impl Iterator<Item = (usize, usize)> {
        self.starts.iter().copied().zip(self.ends.iter().copied())
    }

    /// Keep those tokens, from token `first` on, for which `keep(start, end)` is true.
    pub fn retain_from(&mut self, first: usize, keep: impl Fn(usize, usize) -> bool) {
        let mut kept = first;
        for i in first..self.len() {
            stop::look_at(i);
            let (start, end) = (self.starts[i], self.ends[i]);
            (self.starts[kept], self.ends[kept]) = (start, end);
            kept += usize::from(keep(start, end));
        }
        self.starts.truncate(kept);
        self.ends.truncate(kept);
    }

    pub fn remove(&mut self, units: &[u16], stop_words: &StopWords) {
        if !stop_words.is_empty() {
            self.retain_from(0, |start, end| !stop_words.contain(units, start, end));
        }
    }

    /// Join each run of `n` tokens by spaces; fewer tokens are one run. The units of the runs are written to `joined`.
    pub fn join_runs(&mut self, units: &[u16], n: usize, joined: &mut Vec<u16>) {
        joined.clear();
        for (place, (start, end)) in self.starts.iter_mut().zip(&mut self.ends).enumerate() {
            stop::look_at(place);
            let first = joined.len();
            joined.extend_from_slice(&units[*start..*end]);
            (*start, *end) = (first, joined.len());
            joined.push(SPACE);
        }
        let runs = (self.len() + 1).saturating_sub(n).max(usize::from(!self.is_empty()));
        self.starts.truncate(runs);
        self.ends.drain(..self.ends.len() - runs);
    }

    /// Replace the spans by those of tokens, whose units follow each other in `units`.
    pub fn read(&mut self, tokens: &[Text<'_>], units: &mut Vec<u16>) -> Result<(), Refused> {
        self.clear();
        units.clear();
        for (place, token) in tokens.iter().enumerate() {
            stop::look_at(place);
            let start = units.len();
            token.encode(units)?;
            self.push(start, units.len());
        }
        Ok(())
    }

    /// Append the polynomials of the tokens.
    pub fn polynomials(&self, units: &[u16], polynomials: &mut Vec<u64>) {
        let read: usize = self.iter().map(|(start, end)| end - start).sum();
        if read / READINGS <= units.len() {
            return self.short_polynomials(units, polynomials);
        }
        let mut prefixes = Prefixes::default();
        prefixes.prepare(units, self.iter().map(|(start, end)| end - start).max().unwrap_or_default());
        for part in self.parts() {
            polynomials.extend(part.map(|(start, end)| prefixes.polynomial(units, start, end)));
        }
    }

    /// Do so token by token where one of those that are hashed at once is long.
    fn short_polynomials(&self, units: &[u16], polynomials: &mut Vec<u64>) {
        let first = polynomials.len();
        stop::resize(polynomials, first + self.len());
        let blocks = self.starts.chunks(short::BLOCK).zip(self.ends.chunks(short::BLOCK));
        let mut looks = stop::Looks::after(0);
        for (block, (starts, ends)) in polynomials[first..].chunks_mut(short::BLOCK).zip(blocks) {
            looks.at(ends[0]);
            if !short::polynomials(units, starts, ends, block) {
                for ((p, &start), &end) in block.iter_mut().zip(starts).zip(ends) {
                    *p = polynomial_at(units, start, end);
                }
            }
        }
    }

    /// Append the hashes of the tokens to those of `features`.
    pub fn hash(
        &self,
        hash: Hash,
        width: Width,
        units: &[u16],
        utf8: &mut Utf8,
        features: &mut Features,
    ) -> Result<(), Refused> {
        match hash {
            Hash::Poly64 => {
                self.polynomials(units, &mut features.words);
                features.finish(width);
            }
            Hash::OfBytes(hash) => {
                utf8.encode(units);
                for (start, end) in self.iter() {
                    stop::look();
                    features.push(hash.hash(utf8.span(start, end), width), width);
                }
            }
            Hash::Given => return Err(Refused),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(tokens: &[&str], n: usize) -> Vec<String> {
        let texts: Vec<_> = tokens.iter().map(|token| Text::Ascii(token.as_bytes())).collect();
        let (mut spans, mut units, mut joined) = (Spans::default(), Vec::new(), Vec::new());
        spans.read(&texts, &mut units).unwrap();
        spans.join_runs(&units, n, &mut joined);
        spans.iter().map(|(start, end)| String::from_utf16(&joined[start..end]).unwrap()).collect()
    }

    #[test]
    fn runs_of_tokens_are_joined_by_spaces() {
        assert_eq!(runs(&["a", "bc", "", "d"], 2), ["a bc", "bc ", " d"]);
        assert_eq!(runs(&["a", "bc", "d"], 3), ["a bc d"]);
        assert_eq!(runs(&["a", "bc", "d"], 1), ["a", "bc", "d"]);
    }

    #[test]
    fn fewer_tokens_are_one_run() {
        assert_eq!(runs(&["a", "bc"], 5), ["a bc"]);
        assert_eq!(runs(&["a"], usize::MAX), ["a"]);
        assert!(runs(&[], 2).is_empty());
    }
}
