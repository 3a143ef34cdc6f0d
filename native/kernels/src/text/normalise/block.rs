//! Code points that are looked up together, and the marks among them.

use super::marks::Added;
use super::tables::{Tables, is_odd, sort_number};
use crate::bits::bits_of;

pub const BLOCK: usize = 64;

/// Look up all code points of a text; return whether any is odd.
#[inline(always)]
pub fn look_up(tables: &Tables, text: &[u32], units: &mut [u16]) -> bool {
    let mut highest = 0;
    for (unit, &point) in units.iter_mut().zip(text) {
        *unit = tables.map_unit(point as u16);
        highest |= point;
    }
    if highest > 0xFFFF {
        units.iter_mut().zip(text).for_each(|(unit, &point)| *unit = tables.map(point));
    }
    units.iter().fold(false, |any, &unit| any | is_odd(unit))
}

/// Up to `BLOCK` code points as units.
pub struct Block {
    pub units: [u16; BLOCK],
    /// Bit i: code point i is not looked up, but has to be added.
    pub odd: u64,
    /// Bit i: unit i is not part of the one before it.
    pub kept: u64,
    /// The class of the last mark that stays next to its starter, and the place after it.
    last: (u8, usize),
}

impl Block {
    /// Read the first units of what `look_up` wrote.
    #[inline(always)]
    pub fn of(mapped: &[u16]) -> Self {
        let units = mapped.first_chunk::<BLOCK>().copied().unwrap_or_else(|| {
            let mut units = [0; BLOCK];
            units[..mapped.len()].copy_from_slice(mapped);
            units
        });
        let mut flags = [0; BLOCK];
        for (flag, &unit) in flags.iter_mut().zip(&units) {
            *flag = u8::from(is_odd(unit));
        }
        Self { units, odd: bits_of(&flags), kept: u64::MAX, last: (0, 0) }
    }

    /// Return the bits of the odd code points before `end`.
    #[inline(always)]
    pub fn odd_before(&self, end: usize) -> u64 {
        self.odd & below(end)
    }

    /// Return the last code point before `end`, from `begin` on, that is not odd.
    #[inline(always)]
    pub fn last_even(&self, begin: usize, end: usize) -> Option<usize> {
        last(!self.odd & below(end)).filter(|&place| place >= begin)
    }

    /// Add the mark at `place`, which is this point, to what is before it; return whether that was possible.
    #[inline(always)]
    pub fn add_mark(&mut self, tables: &Tables, place: usize, point: u32) -> bool {
        let sort = tables.marks.sort(sort_number(self.units[place]));
        if sort.is_inert() {
            return self.add_inert(place, point as u16, sort.class);
        }
        let Some(before) = last(self.kept & below(place)) else { return false };
        match tables.marks.add_to(self.units[before], sort) {
            Added::Composed(unit) => {
                self.units[before] = unit;
                self.kept &= !(1 << place);
            }
            Added::Apart(unit) => {
                self.units[place] = unit;
                self.last = (sort.class, place + 1);
            }
            Added::Unknown => return false,
        }
        true
    }

    /// Add a mark that composes with nothing; it moves before the one before it if its class is lower. Processors could
    /// not foresee whether it is.
    #[inline(always)]
    fn add_inert(&mut self, place: usize, unit: u16, class: u8) -> bool {
        let class_before = if self.last.1 == place { self.last.0 } else { 0 };
        let is_lower = class_before > class;
        let before = self.units[place - 1];
        let exchange = (before ^ unit) & u16::from(is_lower).wrapping_neg();
        self.units[place - 1] = before ^ exchange;
        self.units[place] = unit ^ exchange;
        self.last = (class.max(class_before), place + 1);
        // Whether it would have to move farther, only the slow way looks.
        !is_lower | (self.odd << 1 >> (place - 1) & 1 == 0)
    }
}

/// The bits before `end`, which may be 64.
#[inline(always)]
fn below(end: usize) -> u64 {
    if end < BLOCK { (1 << end) - 1 } else { u64::MAX }
}

/// The place of the highest bit that is set.
#[inline(always)]
fn last(bits: u64) -> Option<usize> {
    bits.checked_ilog2().map(|place| place as usize)
}
