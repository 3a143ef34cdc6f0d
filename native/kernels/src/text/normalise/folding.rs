//! Characters that are taken for one (defined in `es_simhash.text.normalise`).

use std::ops::RangeInclusive;
use std::sync::OnceLock;

use super::tables::UNITS;
use super::unicode::Unicode;
use crate::{for_each_cpu, stop};

const HAN_VARIANTS: &str = include_str!("han_variants.txt");
/// Katakana which have hiragana, and how far these are from them.
const KATAKANA: [RangeInclusive<u16>; 2] = [0x30A1..=0x30F6, 0x30FD..=0x30FE];
const TO_HIRAGANA: u16 = 0x60;
/// Letters of the Latin and Greek scripts with accents, and the marks that are taken from them.
const ACCENTED: [RangeInclusive<u16>; 3] = [0xC0..=0x24F, 0x370..=0x3FF, 0x1E00..=0x1FFF];
const MARKS: RangeInclusive<u32> = 0x300..=0x36F;

/// The kinds of folding to take.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Folding {
    pub han: bool,
    pub kana: bool,
    pub accents: bool,
}

impl Folding {
    /// The folding of these kinds, if all are known.
    pub fn named(kinds: &[String]) -> Option<Self> {
        let mut folding = Self::default();
        for kind in kinds {
            match kind.as_str() {
                "han" => folding.han = true,
                "kana" => folding.kana = true,
                "accents" => folding.accents = true,
                _ => return None,
            }
        }
        Some(folding)
    }

    /// What can be folded character by character before marks are added.
    pub fn at_once(self) -> Self {
        Self { han: self.han, ..Self::default() }
    }

    /// Fold the units from `first` on, in which Han characters are folded.
    pub fn apply(self, units: &mut Vec<u16>, first: usize) {
        if self == self.at_once() {
            return;
        }
        if self.accents {
            let mut kept = first;
            for place in first..units.len() {
                stop::look_at(place);
                units[kept] = units[place];
                kept += usize::from(!MARKS.contains(&units[place].into()));
            }
            units.truncate(kept);
        }
        let table = self.table();
        stop::parts_mut(&mut units[first..]).for_each(|part| replace(table, part));
    }

    /// What each unit becomes.
    pub fn table(self) -> &'static [u16; UNITS] {
        static TABLES: [OnceLock<Box<[u16; UNITS]>>; 8] = [const { OnceLock::new() }; 8];
        let place = usize::from(self.han) | usize::from(self.kana) << 1 | usize::from(self.accents) << 2;
        TABLES[place].get_or_init(|| {
            let mut table = Box::new(std::array::from_fn(|unit| unit as u16));
            if self.han {
                add_han(&mut table);
            }
            if self.kana {
                KATAKANA.into_iter().flatten().for_each(|unit| table[usize::from(unit)] = unit - TO_HIRAGANA);
            }
            if self.accents {
                add_accented(&mut table);
            }
            table
        })
    }
}

for_each_cpu! {
    fn replace(table: &[u16; UNITS], units: &mut [u16]) {
        units.iter_mut().for_each(|unit| *unit = table[usize::from(*unit)]);
    }
}

fn add_han(table: &mut [u16; UNITS]) {
    for class in HAN_VARIANTS.lines().filter(|line| !line.starts_with('#')).flat_map(str::split_whitespace) {
        let units: Vec<u16> = class.encode_utf16().collect();
        units.iter().for_each(|&unit| table[usize::from(unit)] = units[0]);
    }
}

fn add_accented(table: &mut [u16; UNITS]) {
    for unit in ACCENTED.into_iter().flatten() {
        if let [letter, marks @ ..] = Unicode::get().decomposition(unit.into())
            && *letter != u32::from(' ')
            && !marks.is_empty()
            && marks.iter().all(|mark| MARKS.contains(mark))
        {
            table[usize::from(unit)] = *letter as u16;
        }
    }
}
