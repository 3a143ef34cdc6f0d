//! Look-ups of the properties.

use std::sync::OnceLock;

use super::properties::{
    ALETTER, ALPHANUMERIC, EXTEND, EXTENDNUMLET, FORMAT, HEBREW_LETTER, KATAKANA, MIDLETTER, MIDNUM, MIDNUMLET,
    NUMERIC, RUNS, SINGLE_QUOTE, VALUE, ZWJ,
};

/// The number of code points in the basic multilingual plane.
const PLANE: usize = 1 << 16;

// What the simple rules need of a unit. Two neighbours belong together if they have one of the two highest traits in
// common; a unit with none of the three highest is in no word.

/// Without `JOINS`: may stand between two letters.
const LETTER: u8 = 1;
/// Without `JOINS`: may stand between two digits.
const DIGIT: u8 = 2;
/// Needs all the rules.
pub const HARD: u8 = 4;
/// Joins, but is neither alphabetic nor numeric.
pub const NO_WORD_ALONE: u8 = 8;
pub const IN_WORD: u8 = 32;
/// With letters, digits and connectors.
pub const JOINS: u8 = 64;
/// With Katakana and connectors.
const JOINS_KATAKANA: u8 = 128;
/// What two units have in common if one between them may join them.
pub const COMMON: u8 = JOINS | LETTER | DIGIT;

fn traits_of(property: u8) -> u8 {
    let traits = match property & VALUE {
        ALETTER => LETTER | JOINS,
        NUMERIC => DIGIT | JOINS,
        KATAKANA => JOINS_KATAKANA,
        EXTENDNUMLET => JOINS | JOINS_KATAKANA,
        MIDLETTER => LETTER,
        MIDNUM => DIGIT,
        MIDNUMLET | SINGLE_QUOTE => LETTER | DIGIT,
        EXTEND | FORMAT | ZWJ | HEBREW_LETTER => HARD,
        _ => 0,
    };
    let alone = if property & ALPHANUMERIC != 0 {
        IN_WORD
    } else if traits >= JOINS {
        NO_WORD_ALONE
    } else {
        0
    };
    traits | alone
}

/// The properties of a code point.
#[inline]
pub fn property(point: u32) -> u8 {
    static OF_PLANE: OnceLock<Box<[u8; PLANE]>> = OnceLock::new();
    let table = OF_PLANE.get_or_init(|| table_of(|property| property));
    match table.get(point as usize) {
        Some(&property) => property,
        None => {
            let run = RUNS.partition_point(|&(_, last, _)| last < point);
            RUNS.get(run).filter(|&&(first, _, _)| first <= point).map_or(0, |&(_, _, property)| property)
        }
    }
}

/// The traits of each UTF-16 unit.
pub fn traits() -> &'static [u8; PLANE] {
    static TRAITS: OnceLock<Box<[u8; PLANE]>> = OnceLock::new();
    TRAITS.get_or_init(|| {
        let mut table = table_of(traits_of);
        // A first half of a pair is hard if any of its characters has a property that matters.
        for &(first, last, property) in RUNS.iter().filter(|&&(_, last, _)| last as usize >= PLANE) {
            if property & (VALUE | ALPHANUMERIC) != 0 {
                table[high_surrogate(first)..=high_surrogate(last)].fill(HARD);
            }
        }
        table
    })
}

fn table_of(make: impl Fn(u8) -> u8) -> Box<[u8; PLANE]> {
    let mut table = Box::new([0; PLANE]);
    for &(first, last, property) in RUNS.iter().take_while(|&&(first, _, _)| (first as usize) < PLANE) {
        table[first as usize..=(last as usize).min(PLANE - 1)].fill(make(property));
    }
    table
}

/// The first unit of a code point beyond U+FFFF.
fn high_surrogate(point: u32) -> usize {
    0xD7C0 + (point as usize >> 10)
}
