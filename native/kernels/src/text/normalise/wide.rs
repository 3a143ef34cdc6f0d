//! Texts of any code points.
//!
//! Most become one unit whatever stands beside them, by one look-up. The others are normalised in segments: one code
//! point and those that join it. Nothing combines across the boundaries of segments.

use super::Steps;
use super::definition::Segment;
use super::tables::{Kind, Tables, is_odd};
use crate::text::Refused;

/// How many code points are looked up at once.
const BLOCK: usize = 16;

/// Append a text, with white space as spaces.
pub fn map(steps: Steps, text: &[u32], units: &mut Vec<u16>) -> Result<(), Refused> {
    let end = units.len();
    let mut walk = Walk { tables: Tables::of(steps), text, units, end, segment: Segment::default() };
    let mut place = 0;
    while place < text.len() {
        place = walk.copy_plain(place);
        if place < text.len() {
            place = walk.copy_odd(place)?;
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
    /// Where it is written.
    place: usize,
    /// The class of the last mark that it has, composed or not.
    class: u8,
    /// The class of the last mark that stands after it uncomposed, or 0.
    uncomposed: u8,
}

impl Walk<'_> {
    /// Write code points that are looked up, and return where the first odd one is.
    #[inline(always)]
    fn copy_plain(&mut self, mut place: usize) -> usize {
        let tables = self.tables;
        while let Some(block) = self.text[place..].first_chunk::<BLOCK>() {
            let mapped = block.map(|point| tables.map(point));
            let mut odd = 0;
            for (i, &unit) in mapped.iter().enumerate() {
                odd |= u32::from(is_odd(unit)) << i;
            }
            self.room::<BLOCK>().copy_from_slice(&mapped);
            if odd != 0 {
                let count = odd.trailing_zeros() as usize;
                self.end += count;
                return place + count;
            }
            self.end += BLOCK;
            place += BLOCK;
        }
        while let Some(&point) = self.text.get(place) {
            let unit = tables.map(point);
            if is_odd(unit) {
                break;
            }
            self.push(unit);
            place += 1;
        }
        place
    }

    /// Write the segment of an odd code point, and return where it ends.
    #[inline(always)]
    fn copy_odd(&mut self, place: usize) -> Result<usize, Refused> {
        let point = self.text[place];
        match self.tables.kind(point) {
            Kind::Mark { .. } | Kind::Joins => return Ok(self.add_joining(place)),
            Kind::Refused => return Err(Refused),
            Kind::Wall => self.push_point(point),
            _ if self.joins(place + 1) => return Ok(self.define(place)),
            Kind::Plain { .. } => self.push_point(point),
            Kind::Expands { start, length } => {
                for &unit in self.tables.expansion(start, length) {
                    self.push(unit);
                }
            }
        }
        Ok(place + 1)
    }

    fn joins(&self, place: usize) -> bool {
        self.text.get(place).is_some_and(|&point| matches!(self.tables.kind(point), Kind::Mark { .. } | Kind::Joins))
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
        while let Some(&point) = self.text.get(next) {
            match self.tables.kind(point) {
                Kind::Mark { class, unit } if class == 0 || class >= starter.class => {
                    self.add_mark(&mut starter, class, unit);
                }
                Kind::Mark { .. } | Kind::Joins => {
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
        let none = Starter { unit: 0, place: 0, class: 0, uncomposed: 0 };
        let Some(before) = place.checked_sub(1) else { return Some((none, place)) };
        let Kind::Plain { .. } = self.tables.kind(self.text[before]) else { return Some((none, place)) };
        let unit = self.units[self.end - 1];
        // The space may not be the last one of its run.
        if unit == u16::from(b' ') {
            return Some((none, place));
        }
        match self.tables.kind(unit.into()) {
            Kind::Plain { last_class } => {
                Some((Starter { unit, place: self.end - 1, class: last_class, uncomposed: 0 }, before))
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
            self.units[starter.place] = composed;
            return;
        }
        self.push(unit);
        if class == 0 {
            *starter = Starter { unit, place: self.end - 1, class, uncomposed: 0 };
        } else {
            starter.uncomposed = class;
        }
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

    fn push_point(&mut self, point: u32) {
        if let Some(character) = char::from_u32(point) {
            character.encode_utf16(&mut [0; 2]).iter().for_each(|&unit| self.push(unit));
        }
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
        self.units.resize(self.end + self.text.len() + BLOCK, 0);
    }
}
