//! Documents to weighted features (defined in `es_simhash.scheme.fingerprinting`: cut, hash, weigh).

use super::settings::{MinHash, Settings, Tokens, Weighing};
use crate::stop;
use crate::text::chars::{self, PADDING};
use crate::text::features::Distinct;
use crate::text::hashing::{Hash, Width};
use crate::text::idf::IdfTable;
use crate::text::normalise::normalise;
use crate::text::numbers;
use crate::text::points::Utf8;
use crate::text::runs;
use crate::text::spans::Spans;
use crate::text::weighted::{Features, Weights};
use crate::text::words::Words;
use crate::text::{Refused, Text};

/// Functions of a k-hash that are computed about as fast as a character is read.
const FUNCTIONS_AT_ONCE: usize = 128;

/// What features are made of.
#[derive(Clone, Copy)]
pub enum Document<'a> {
    Text(Text<'a>),
    /// Tokens as they are.
    Tokens(&'a [Text<'a>]),
    /// The hashes of tokens: a word each, or two if they have 128 bits.
    Hashes(&'a [u64], GivenWeights<'a>),
}

/// The weights that came with hashes.
#[derive(Clone, Copy)]
pub enum GivenWeights<'a> {
    One,
    Integers(&'a [i64]),
    Floats(&'a [f64]),
}

impl Document<'_> {
    /// How much there is to read, again and again where long tokens overlap or a signature needs it.
    pub fn units(&self, settings: &Settings) -> usize {
        let passes = match &settings.minhash {
            Some(MinHash::KHash(functions)) => functions.size() / FUNCTIONS_AT_ONCE + 1,
            Some(MinHash::Weighted(samples)) => samples.size(),
            _ => 1,
        };
        self.units_read(settings).saturating_mul(passes)
    }

    fn units_read(&self, settings: &Settings) -> usize {
        let readings = match (settings.hash, &settings.tokens) {
            (Hash::OfBytes(_), Tokens::Chars(n) | Tokens::Words { n, .. }) => *n,
            (Hash::OfBytes(_), Tokens::Runs(_)) => runs::LONG,
            (Hash::OfBytes(_), Tokens::RunsAndNumbers) => runs::LONG.max(numbers::WEIGHT),
            _ => 1,
        };
        match self {
            Self::Text(text) => text.len().saturating_mul(readings),
            Self::Tokens(tokens) => tokens.iter().map(Text::len).sum(),
            Self::Hashes(hashes, _) => hashes.len(),
        }
    }
}

impl<'a> GivenWeights<'a> {
    /// The weights from `start` up to `end`, which must be there.
    pub fn part(self, start: usize, end: usize) -> Self {
        match self {
            Self::One => Self::One,
            Self::Integers(weights) => Self::Integers(&weights[start..end]),
            Self::Floats(weights) => Self::Floats(&weights[start..end]),
        }
    }

    fn to_own(self) -> Weights {
        match self {
            Self::One => Weights::One,
            Self::Integers(weights) => Weights::Integers(weights.to_vec()),
            Self::Floats(weights) => Weights::Floats(weights.to_vec()),
        }
    }
}

/// What one thread makes features in.
#[derive(Default)]
pub struct Scratch {
    units: Vec<u16>,
    joined: Vec<u16>,
    words: Words,
    spans: Spans,
    utf8: Utf8,
    distinct: Distinct,
}

impl Scratch {
    /// Replace `features` by those of a document, weighed; for `Weighing::Set` they still repeat.
    pub fn make(
        &mut self,
        settings: &Settings,
        document: Document<'_>,
        features: &mut Features,
    ) -> Result<(), Refused> {
        features.clear();
        match document {
            Document::Text(text) => self.cut_and_hash(settings, text, features)?,
            Document::Tokens(tokens) => {
                self.spans.read(tokens, &mut self.units)?;
                self.hash(settings, features)?;
            }
            Document::Hashes(hashes, weights) => {
                if settings.width == Width::Bits128 {
                    features.words.extend(hashes.iter().step_by(2));
                    features.second_words.extend(hashes.iter().skip(1).step_by(2));
                } else {
                    features.words.extend_from_slice(hashes);
                }
                features.weights = weights.to_own();
            }
        }
        self.weigh(settings, features);
        Ok(())
    }

    /// Do the same, each feature once if each counts once.
    pub fn make_finished(
        &mut self,
        settings: &Settings,
        document: Document<'_>,
        features: &mut Features,
    ) -> Result<(), Refused> {
        self.make(settings, document, features)?;
        if matches!(settings.weighing, Weighing::Set) {
            features.keep_first(&mut self.distinct);
        }
        Ok(())
    }

    fn cut_and_hash(&mut self, settings: &Settings, text: Text<'_>, features: &mut Features) -> Result<(), Refused> {
        self.units.clear();
        let has_pairs = normalise(settings.normalisation, text, &mut self.units)?;
        match &settings.tokens {
            Tokens::Chars(n) if settings.hash == Hash::Poly64 => {
                self.units.extend([0; PADDING]);
                chars::polynomials(&self.units, *n, has_pairs, &mut features.words);
                features.finish(settings.width);
                return Ok(());
            }
            Tokens::Chars(n) => chars::spans(&self.units, *n, &mut self.spans),
            Tokens::Runs(dense) if settings.hash == Hash::Poly64 => {
                runs::polynomials(&self.units, *dense, has_pairs, &mut features.words);
                features.finish(settings.width);
                return Ok(());
            }
            Tokens::Runs(dense) => runs::spans(&self.units, *dense, &mut self.spans),
            Tokens::RunsAndNumbers => return self.hash_runs_and_numbers(settings, has_pairs, features),
            Tokens::Words { n, stop_words } => {
                self.spans.clear();
                self.words.find(&self.units, &mut self.spans);
                self.spans.remove(&self.units, stop_words);
                if *n > 1 {
                    self.spans.join_runs(&self.units, *n, &mut self.joined);
                    std::mem::swap(&mut self.units, &mut self.joined);
                }
            }
            Tokens::Given => return Err(Refused),
        }
        self.hash(settings, features)
    }

    fn hash_runs_and_numbers(
        &mut self,
        settings: &Settings,
        has_pairs: bool,
        features: &mut Features,
    ) -> Result<(), Refused> {
        let numbers = numbers::mask(&mut self.units);
        if settings.hash == Hash::Poly64 {
            runs::polynomials(&self.units, numbers::DENSE, has_pairs, &mut features.words);
            numbers::polynomials(&numbers, &mut features.words);
            features.finish(settings.width);
            return Ok(());
        }
        runs::spans(&self.units, numbers::DENSE, &mut self.spans);
        self.hash(settings, features)?;
        numbers::hash(&numbers, settings.hash, settings.width, features)
    }

    fn hash(&mut self, settings: &Settings, features: &mut Features) -> Result<(), Refused> {
        self.spans.hash(settings.hash, settings.width, &self.units, &mut self.utf8, features)
    }

    fn weigh(&mut self, settings: &Settings, features: &mut Features) {
        match &settings.weighing {
            Weighing::Own => {}
            Weighing::Set | Weighing::Tf => features.weights = Weights::One,
            Weighing::Idf(table) => {
                features.keep_first(&mut self.distinct);
                features.weights = weights_by(table, &features.words);
            }
            Weighing::TfIdf(table) => features.weights = weights_by(table, &features.words),
        }
    }
}

fn weights_by(table: &IdfTable, words: &[u64]) -> Weights {
    let mut weights = Vec::new();
    stop::extend(&mut weights, words.iter().map(|&word| table.weight(word)));
    Weights::Integers(weights)
}
