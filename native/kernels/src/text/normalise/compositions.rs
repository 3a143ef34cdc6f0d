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

    /// Return the code points that compose with one before them, but for jamo.
    pub fn seconds(&self) -> impl Iterator<Item = u32> {
        self.slots.iter().filter(|&&slot| slot != 0).map(|&slot| (slot >> 21) as u32 & POINT)
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
    let (leading, vowel) = (first.wrapping_sub(LEADING), second.wrapping_sub(VOWEL));
    if leading < LEADINGS && vowel < VOWELS {
        return Some(SYLLABLE + (leading * VOWELS + vowel) * TRAILINGS);
    }
    let (open, trailing) = (first.wrapping_sub(SYLLABLE), second.wrapping_sub(TRAILING));
    (open < SYLLABLES && open.is_multiple_of(TRAILINGS) && (1..TRAILINGS).contains(&trailing)).then(|| first + trailing)
}

/// Return whether a jamo composes with the one before it.
pub fn is_composing_jamo(point: u32) -> bool {
    (VOWEL..VOWEL + VOWELS).contains(&point) || (TRAILING + 1..TRAILING + TRAILINGS).contains(&point)
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
