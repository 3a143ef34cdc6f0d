//! Which two code points compose to one.

use crate::text::hashing::poly64::BASE;

/// Slots of the table, a power of two: more than twice as many as there are compositions.
const SLOTS: usize = 1 << 11;

/// The bits of a code point.
const POINT: u32 = (1 << 21) - 1;

/// Hangul: a leading consonant, a vowel and a trailing consonant make a syllable, by arithmetic.
const LEADING: u32 = 0x1100;
const VOWEL: u32 = 0x1161;
/// One before the first trailing consonant.
const TRAILING: u32 = 0x11A7;
const SYLLABLE: u32 = 0xAC00;
const LEADINGS: u32 = 19;
const VOWELS: u32 = 21;
const TRAILINGS: u32 = 28;
const SYLLABLES: u32 = LEADINGS * VOWELS * TRAILINGS;

/// A table with open addressing. A slot has a first and a second code point, and what they compose to; or nothing: 0.
pub struct Compositions {
    slots: Box<[u64; SLOTS]>,
}

impl Default for Compositions {
    fn default() -> Self {
        Self { slots: Box::new([0; SLOTS]) }
    }
}

impl Compositions {
    pub fn insert(&mut self, first: u32, second: u32, composed: u32) {
        let key = key(first, second);
        let place = probes(key).find(|&place| self.slots[place] == 0);
        self.slots[place.unwrap_or_default()] = key << 21 | u64::from(composed);
    }

    /// Return all that compose, but for jamo: two code points, and what they become.
    pub fn all(&self) -> impl Iterator<Item = (u32, u32, u32)> {
        let slots = self.slots.iter().filter(|&&slot| slot != 0);
        slots.map(|&slot| ((slot >> 42) as u32, (slot >> 21) as u32 & POINT, slot as u32 & POINT))
    }

    /// Return what two code points compose to.
    #[inline(always)]
    pub fn get(&self, first: u32, second: u32) -> Option<u32> {
        if let Some(syllable) = syllable(first, second) {
            return Some(syllable);
        }
        let key = key(first, second);
        for place in probes(key) {
            let slot = self.slots[place];
            if slot >> 21 == key {
                return Some(slot as u32 & POINT);
            }
            if slot == 0 {
                return None;
            }
        }
        None
    }
}

#[inline(always)]
fn key(first: u32, second: u32) -> u64 {
    u64::from(first) << 21 | u64::from(second)
}

#[inline(always)]
fn probes(key: u64) -> impl Iterator<Item = usize> {
    let first = (key.wrapping_mul(BASE) >> 32) as usize;
    (first..first + SLOTS).map(|place| place % SLOTS)
}

#[inline(always)]
fn syllable(first: u32, second: u32) -> Option<u32> {
    let step = step(second)?;
    (follows(first) == Some(step.after)).then(|| step.from(first))
}

/// What stands before a jamo with which it composes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Before {
    Leading,
    OpenSyllable,
}

/// How a vowel or a trailing consonant makes a syllable of what is before it: by a multiplication and an addition.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    pub after: Before,
    factor: u32,
    summand: u32,
}

impl Step {
    #[inline(always)]
    pub fn from(self, first: u32) -> u32 {
        first.wrapping_mul(self.factor).wrapping_add(self.summand)
    }
}

/// Return the step of a jamo that composes with the one before it.
#[inline(always)]
pub fn step(point: u32) -> Option<Step> {
    let (vowel, trailing) = (point.wrapping_sub(VOWEL), point.wrapping_sub(TRAILING));
    if vowel < VOWELS {
        let factor = VOWELS * TRAILINGS;
        let summand = SYLLABLE.wrapping_add(vowel * TRAILINGS).wrapping_sub(LEADING * factor);
        return Some(Step { after: Before::Leading, factor, summand });
    }
    (1..TRAILINGS).contains(&trailing).then_some(Step { after: Before::OpenSyllable, factor: 1, summand: trailing })
}

/// Return what a code point is to the jamo after it.
#[inline(always)]
pub fn follows(point: u32) -> Option<Before> {
    let syllable = point.wrapping_sub(SYLLABLE);
    if point.wrapping_sub(LEADING) < LEADINGS {
        Some(Before::Leading)
    } else if syllable < SYLLABLES && syllable.is_multiple_of(TRAILINGS) {
        Some(Before::OpenSyllable)
    } else {
        None
    }
}

/// Return the two or three jamo of a syllable.
#[inline(always)]
pub fn jamo(point: u32) -> Option<([u32; 3], usize)> {
    let syllable = point.wrapping_sub(SYLLABLE);
    let (vowels, trailing) = (syllable / TRAILINGS, syllable % TRAILINGS);
    let jamo = [LEADING + vowels / VOWELS, VOWEL + vowels % VOWELS, TRAILING + trailing];
    (syllable < SYLLABLES).then_some((jamo, 2 + usize::from(trailing > 0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::normalise::unicode::Unicode;

    #[test]
    fn letters_and_jamo_compose() {
        let compositions = &Unicode::get().compositions;
        assert_eq!(compositions.get(0x61, 0x301), Some(0xE1));
        assert_eq!(compositions.get(0x11099, 0x110BA), Some(0x1109A));
        assert_eq!(compositions.get(0x1100, 0x1161), Some(0xAC00));
        assert_eq!(compositions.get(0xAC00, 0x11A8), Some(0xAC01));
        assert_eq!(compositions.get(0xAC01, 0x11A8), None);
        assert_eq!(compositions.get(0xAC00, 0x11A7), None);
        assert_eq!(compositions.get(0x61, 0x62), None);
        assert_eq!(compositions.get(0, 0x301), None);
        assert_eq!(jamo(0xD7A3), Some(([0x1112, 0x1175, 0x11C2], 3)));
        assert_eq!(jamo(0xD7A4), None);
    }
}
