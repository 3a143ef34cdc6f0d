//! Texts of any code points.
//!
//! Most become one unit whatever stands beside them, by one look-up. The others are normalised in segments: one code
//! point and those that join it. Nothing combines across the boundaries of segments.

use super::Steps;
use super::definition::Segment;
use super::tables::{Kind, Tables, is_odd};
use crate::stop;
use crate::text::Refused;

/// How many code points are looked up at once.
const BLOCK: usize = 16;
/// How many code points after an odd one are looked up one by one: odd ones come together.
const FEW: usize = 8;
/// How many marks at most a mark is moved over.
const MOVES: usize = 8;

/// Append a text, with white space as spaces.
pub fn map(steps: Steps, text: &[u32], units: &mut Vec<u16>) -> Result<(), Refused> {
    units.reserve(text.len() + BLOCK);
    let end = units.len();
    let mut walk = Walk { tables: Tables::of(steps), text, units, end, segment: Segment::default() };
    let (mut place, mut looks) = (walk.copy_plain(0), stop::Looks::after(0));
    while place < text.len() {
        looks.at(place);
        let next = walk.copy_odd(place)?;
        place = walk.copy_few(next);
        if place - next == FEW {
            place = walk.copy_plain(place);
        }
    }
    let end = walk.end;
    units.truncate(end);
    Ok(())
}

struct Walk<'a> {
    tables: &'static Tables,
    text: &'a [u32],
    units: &'a mut Vec<u16>,
    /// How many units are written; those after them are room.
    end: usize,
    segment: Segment,
}

/// A starter to which marks are added, in canonical order.
struct Starter {
    /// Itself, as composed so far; NUL if there is none, with which nothing composes.
    unit: u16,
    /// Where the marks after it are written.
    end: usize,
    /// The highest class of the marks that it has, composed or not.
    class: u8,
    /// The highest class of those that stand after it uncomposed, or 0.
    uncomposed: u8,
}

impl Walk<'_> {
    /// Write code points that are looked up, and return where the first odd one is.
    #[inline(always)]
    fn copy_plain(&mut self, mut place: usize) -> usize {
        let tables = self.tables;
        while let Some(block) = self.text[place..].first_chunk::<BLOCK>() {
            let room = self.room::<BLOCK>();
            for (unit, &point) in room.iter_mut().zip(block) {
                *unit = tables.map_unit(point as u16);
            }
            let mut odd = 0;
            for (i, (&point, &unit)) in block.iter().zip(&*room).enumerate() {
                odd |= u32::from(point > 0xFFFF || is_odd(unit)) << i;
            }
            if odd != 0 {
                let count = odd.trailing_zeros() as usize;
                self.end += count;
                return place + count;
            }
            self.end += BLOCK;
            place += BLOCK;
            stop::look_at(self.end / BLOCK);
        }
        loop {
            let next = self.copy_few(place);
            if next - place < FEW {
                return next;
            }
            place = next;
        }
    }

    /// Write up to `FEW` code points that are looked up, and return where they end.
    #[inline(always)]
    fn copy_few(&mut self, place: usize) -> usize {
        let text = self.text;
        let mut next = place;
        for &point in text[place..].iter().take(FEW) {
            let unit = self.tables.map(point);
            if is_odd(unit) {
                break;
            }
            self.push(unit);
            next += 1;
        }
        next
    }

    /// Write the segment of an odd code point, and return where it ends.
    #[inline(always)]
    fn copy_odd(&mut self, place: usize) -> Result<usize, Refused> {
        let point = self.text[place];
        let joined = self.joins(place + 1);
        match self.tables.kind(point) {
            Kind::Refused => return Err(Refused),
            Kind::Inert { .. } if !joined => self.push(point as u16),
            Kind::Mark { .. } | Kind::Inert { .. } | Kind::Joins => return Ok(self.add_joining(place)),
            Kind::Wall => self.push_point(point),
            _ if joined => return Ok(self.define(place)),
            Kind::Plain { .. } => self.push_point(point),
            Kind::Expands { start, length } => {
                self.tables.expansion(start, length).iter().for_each(|&unit| self.push(unit));
            }
        }
        Ok(place + 1)
    }

    #[inline(always)]
    fn joins(&self, place: usize) -> bool {
        let joins = |&point: &u32| {
            is_odd(self.tables.map(point))
                && matches!(self.tables.kind(point), Kind::Mark { .. } | Kind::Inert { .. } | Kind::Joins)
        };
        self.text.get(place).is_some_and(joins)
    }

    /// Add the joining code points from `place` on to the one before, which is written.
    #[inline(always)]
    fn add_joining(&mut self, place: usize) -> usize {
        let written = self.end;
        let Some((mut starter, begin)) = self.starter(place) else {
            self.end -= 1;
            return self.define(place - 1);
        };
        let mut next = place;
        let text = self.text;
        while let Some(&point) = text.get(next) {
            match self.tables.kind(point) {
                Kind::Mark { class, unit } if class == 0 || class >= starter.class => {
                    self.add_mark(&mut starter, class, unit);
                }
                Kind::Inert { class } if self.add_inert(&mut starter, class, point as u16) => {}
                Kind::Mark { .. } | Kind::Inert { .. } | Kind::Joins => {
                    self.end = written + begin - place;
                    return self.define(begin);
                }
                _ => break,
            }
            next += 1;
        }
        next
    }

    /// Return the starter that a joining code point at `place` joins, and where its segment begins; or nothing if the
    /// one before it is a starter that only the definition knows.
    #[inline(always)]
    fn starter(&self, place: usize) -> Option<(Starter, usize)> {
        let none = Starter { unit: 0, end: self.end, class: 0, uncomposed: 0 };
        let Some(before) = place.checked_sub(1) else { return Some((none, place)) };
        let Kind::Plain { .. } = self.tables.kind(self.text[before]) else { return Some((none, place)) };
        let unit = self.units[self.end - 1];
        // The space may not be the last one of its run.
        if unit == u16::from(b' ') {
            return Some((none, place));
        }
        match self.tables.kind(unit.into()) {
            Kind::Plain { last_class } => {
                Some((Starter { unit, end: self.end, class: last_class, uncomposed: 0 }, before))
            }
            _ => None,
        }
    }

    /// Add a mark after those that the starter has.
    #[inline(always)]
    fn add_mark(&mut self, starter: &mut Starter, class: u8, unit: u16) {
        let is_blocked = starter.uncomposed != 0 && starter.uncomposed >= class;
        let composed = self.tables.unicode.compositions.get(starter.unit.into(), unit.into());
        starter.class = class;
        if let (false, Some(Ok(composed))) = (is_blocked, composed.map(u16::try_from)) {
            starter.unit = composed;
            self.units[starter.end - 1] = composed;
            return;
        }
        self.push(unit);
        if class == 0 {
            *starter = Starter { unit, end: self.end, class, uncomposed: 0 };
        } else {
            starter.uncomposed = class;
        }
    }

    /// Add a mark that composes with nothing, and thus blocks no mark before it; return False if it would move too far.
    #[inline(always)]
    fn add_inert(&mut self, starter: &mut Starter, class: u8, unit: u16) -> bool {
        let mut place = self.end;
        self.push(unit);
        while place > starter.end && self.tables.unicode.class(self.units[place - 1].into()) > class {
            if self.end - place > MOVES {
                return false;
            }
            self.units.swap(place - 1, place);
            place -= 1;
        }
        starter.class = starter.class.max(class);
        starter.uncomposed = starter.uncomposed.max(class);
        true
    }

    /// Write the segment that begins at `begin` by the definition, and return where it ends.
    #[cold]
    fn define(&mut self, begin: usize) -> usize {
        let mut end = begin + 1;
        while self.joins(end) {
            end += 1;
        }
        let mut segment = std::mem::take(&mut self.segment);
        segment.points.clear();
        segment.points.extend_from_slice(&self.text[begin..end]);
        segment.fold(self.tables.unicode, self.tables.steps);
        segment.points.iter().for_each(|&point| self.push_point(point));
        self.segment = segment;
        end
    }

    #[inline(always)]
    fn push_point(&mut self, point: u32) {
        if let Ok(unit) = u16::try_from(point) {
            return self.push(unit);
        }
        *self.room() = [0xD7C0 + (point >> 10) as u16, 0xDC00 | (point & 0x3FF) as u16];
        self.end += 2;
    }

    #[inline(always)]
    fn push(&mut self, unit: u16) {
        *self.room() = [unit];
        self.end += 1;
    }

    /// Return the room for the next units.
    #[inline(always)]
    fn room<const COUNT: usize>(&mut self) -> &mut [u16; COUNT] {
        if self.units.len() < self.end + COUNT {
            self.grow();
        }
        self.units[self.end..].first_chunk_mut().expect("grown")
    }

    #[cold]
    fn grow(&mut self) {
        self.units.resize(self.end + self.text.len().min(stop::FEW) + BLOCK, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::normalise::unicode::Unicode;

    const STEPS: Steps = Steps { nfkc: true, casefold: true, whitespace: false };

    fn defined(points: &[u32]) -> Vec<u16> {
        let mut segment = Segment::default();
        segment.points.extend_from_slice(points);
        segment.fold(Unicode::get(), STEPS);
        let characters = segment.points.iter().filter_map(|&point| char::from_u32(point));
        characters.flat_map(|character| character.encode_utf16(&mut [0; 2]).to_vec()).collect()
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes minutes")]
    fn starters_with_two_marks_become_what_they_are_defined_to() {
        let mut marks: Vec<u32> = Unicode::get().compositions.seconds().collect();
        marks.sort_unstable();
        marks.dedup();
        marks.extend([0x334, 0x316, 0x64E, 0x651, 0x94D, 0x345, 0x1D165]);
        let starters = (0x41..0x250).chain(0x391..0x3CF).chain(0x1E00..0x2000).chain([0x627, 0x928, 0x1100, 0xAC00]);
        let mut units = Vec::new();
        for starter in starters.filter(|point| point % 3 != 0) {
            for (i, &first) in marks.iter().enumerate() {
                let text = [starter, first, marks[(i * 7 + starter as usize) % marks.len()]];
                units.clear();
                assert_eq!(map(STEPS, &text, &mut units), Ok(()));
                assert_eq!(units, defined(&text), "{text:X?}");
            }
        }
    }

    #[test]
    fn surrogates_and_what_is_no_code_point_are_refused() {
        for point in [0xD800, 0xDFFF, 0x11_0000, u32::MAX] {
            for text in [&[point][..], &[0x61, point], &[0xFB01, point], &[0x1F600, point, 0x301]] {
                assert_eq!(map(STEPS, text, &mut Vec::new()), Err(Refused));
            }
        }
    }
}
