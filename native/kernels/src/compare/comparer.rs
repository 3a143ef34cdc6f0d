//! From texts to the similarities of pairs (defined in `es_simhash.scheme.verifier.Verifier`).

use std::panic::resume_unwind;
use std::thread;

use super::feature_weights::FeatureWeights;
use super::measure::Measure;
use super::set::{self, WeightedSet};
use super::shared_numbers::{numbers_in, shared};
use super::weight_table::WeightTable;
use crate::scheme::features::{self, Document};
use crate::scheme::settings::Settings;
use crate::stop;
use crate::text::numbers::Number;
use crate::text::weighted::Features;
use crate::text::{Refused, Text};

/// The similarity of two texts without any features.
const OF_EMPTY: f64 = 1.0;

/// How texts are compared.
pub struct Comparer {
    pub measure: Measure,
    pub weights: FeatureWeights,
    /// Whether each occurrence of a feature adds to its weight.
    pub counts: bool,
    /// The least share of the numbers of the text with fewer that the other has.
    pub numbers: f64,
}

/// The parts of a text that are compared.
#[derive(Default)]
pub struct Comparable {
    features: WeightedSet,
    /// Empty if none need be shared.
    numbers: Box<[Number]>,
}

/// What one thread works in.
#[derive(Default)]
pub struct Scratch {
    features: Features,
    making: features::Scratch,
    sets: set::Scratch,
}

/// A pair to compare; a similarity below `least` does not count.
#[derive(Clone, Copy)]
pub struct Pair<'a> {
    pub first: &'a Comparable,
    pub second: &'a Comparable,
    pub least: f64,
}

/// Which text of a pair is held in a table, in which the features of the other one are looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    First,
    Second,
}

impl<'a> Pair<'a> {
    fn held(&self, held: Held) -> &'a Comparable {
        if held == Held::First { self.first } else { self.second }
    }

    fn looked_up(&self, held: Held) -> &'a Comparable {
        if held == Held::First { self.second } else { self.first }
    }
}

/// The similarity of a pair, 0 if it does not count, and whether the texts share enough numbers.
#[derive(Clone, Copy)]
pub struct Measured {
    pub similarity: f64,
    pub meets: bool,
}

impl Comparer {
    /// Make what is compared of a text.
    pub fn comparable(
        &self,
        settings: &Settings,
        text: Text<'_>,
        scratch: &mut Scratch,
    ) -> Result<Comparable, Refused> {
        scratch.making.make(settings, Document::Text(text), &mut scratch.features)?;
        let features = WeightedSet::of(&mut scratch.features.words, &self.weights, self.counts, &mut scratch.sets)?;
        let numbers = if self.numbers > 0.0 { numbers_in(settings.normalisation, text)? } else { Box::default() };
        Ok(Comparable { features, numbers })
    }

    /// Make what is compared of each text, in as many threads as there are scratches.
    pub fn comparable_by_threads(
        &self,
        settings: &Settings,
        texts: &[Text<'_>],
        scratches: &mut [Scratch],
    ) -> Result<Vec<Comparable>, Refused> {
        let each = |texts: &[Text<'_>], scratch: &mut Scratch| -> Result<Vec<_>, Refused> {
            texts.iter().map(|&text| self.comparable(settings, text, scratch)).collect()
        };
        let [first, others @ ..] = scratches else { return Err(Refused) };
        let mut parts = texts.chunks(texts.len().div_ceil(others.len() + 1).max(1));
        let own = parts.next().unwrap_or_default();
        thread::scope(|scope| {
            let others = parts.zip(others).map(|(part, scratch)| stop::spawn(scope, move || each(part, scratch)));
            let others: Vec<_> = others.collect();
            let mut made = each(own, first)?;
            for other in others {
                made.extend(other.join().unwrap_or_else(|panic| resume_unwind(panic))?);
            }
            Ok(made)
        })
    }

    /// Measure each pair; it is quickest where pairs with the same held text follow one another.
    pub fn compare(&self, pairs: &[Pair<'_>], held: Held) -> Vec<Measured> {
        let mut found = Vec::with_capacity(pairs.len());
        let mut table = WeightTable::default();
        for run in pairs.chunk_by(|a, b| std::ptr::eq(a.held(held), b.held(held))) {
            let mut is_filled = false;
            for pair in run {
                stop::look();
                let Pair { first, second, least } = *pair;
                let mut similarity = self.most_similar(first, second);
                if similarity >= least && similarity > 0.0 {
                    if !is_filled {
                        let features = &pair.held(held).features;
                        table.fill(&features.hashes, &features.weights, 0);
                        is_filled = true;
                    }
                    similarity = self.similarity(&table, pair, held);
                }
                found.push(match similarity >= least && similarity > 0.0 {
                    true => Measured { similarity, meets: shared(&first.numbers, &second.numbers) >= self.numbers },
                    false => Measured { similarity: 0.0, meets: true },
                });
            }
        }
        found
    }

    /// The most that the similarity can be, given the totals.
    fn most_similar(&self, first: &Comparable, second: &Comparable) -> f64 {
        let (first, second) = (first.features.total, second.features.total);
        if first == 0 && second == 0 {
            return OF_EMPTY;
        }
        self.measure.similarity(first.min(second), first, second)
    }

    /// The similarity, given a table with the features of the held text.
    fn similarity(&self, table: &WeightTable, pair: &Pair<'_>, held: Held) -> f64 {
        match (pair.first.features.total, pair.second.features.total) {
            (0, 0) => OF_EMPTY,
            (a, b) => {
                let WeightedSet { hashes, weights, .. } = &pair.looked_up(held).features;
                self.measure.similarity(table.sum_of_minima(hashes, weights), a, b)
            }
        }
    }
}

impl Comparable {
    /// How many features it has.
    pub fn features(&self) -> usize {
        self.features.hashes.len()
    }

    /// The bytes that it takes.
    pub fn size(&self) -> usize {
        size_of::<Self>() + self.features.size() + self.numbers.iter().map(Number::size).sum::<usize>()
    }
}
