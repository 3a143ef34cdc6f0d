//! The keys of a document's passages (defined in `es_simhash.scheme.passages`).

use super::features::{self, Document};
use super::settings::Settings;
use crate::sketches::digits::append_base64url;
use crate::sketches::winnowing::{self, Winnowing};
use crate::stop;
use crate::text::Refused;
use crate::text::weighted::Features;

const BITS_A_DIGIT: u32 = 6;

/// How passages are chosen, and what their keys have of a hash.
pub struct Passages {
    winnowing: Winnowing,
    key_digits: u32,
}

/// What one thread works in.
#[derive(Default)]
pub struct Scratch {
    features: Features,
    making: features::Scratch,
    winnowing: winnowing::Scratch,
    chosen: Vec<u64>,
}

impl Passages {
    /// Return none for what has no keys.
    pub fn new(words: usize, window: usize, key_bits: u32) -> Option<Self> {
        let has_digits = key_bits.is_multiple_of(BITS_A_DIGIT) && (1..64).contains(&key_bits);
        let winnowing = Winnowing::new(words, window).filter(|_| has_digits)?;
        Some(Self { winnowing, key_digits: key_bits / BITS_A_DIGIT })
    }

    /// Append the keys of a document in ascending order, each once, with spaces between them; `settings` cut it into words.
    pub fn append_keys(
        &self,
        settings: &Settings,
        document: Document<'_>,
        scratch: &mut Scratch,
        target: &mut Vec<u8>,
    ) -> Result<(), Refused> {
        stop::look();
        scratch.making.make(settings, document, &mut scratch.features)?;
        let numbers = &mut scratch.chosen;
        numbers.clear();
        self.winnowing.choose(&scratch.features.words, &mut scratch.winnowing, numbers);
        let mask = (1 << (BITS_A_DIGIT * self.key_digits)) - 1;
        stop::parts_mut(numbers).for_each(|part| part.iter_mut().for_each(|number| *number &= mask));
        stop::sort(numbers);
        numbers.dedup();
        let first = target.len();
        for (place, &number) in numbers.iter().enumerate() {
            stop::look_at(place);
            append_base64url(number, self.key_digits, target);
            target.push(b' ');
        }
        target.truncate(first.max(target.len().saturating_sub(1)));
        Ok(())
    }
}
