//! Texts of any code points.
//!
//! Most become one unit whatever their neighbours, by one look-up. The others are normalised in segments: one code
//! point and those that join it. Nothing combines across the boundaries of segments.

use super::Steps;
use super::block::{BLOCK, Block, look_up};
use super::definition::Segment;
use super::tables::{Kind, Tables, is_odd};
use crate::text::Refused;
use crate::{for_each_cpu, stop};

/// How many marks at most a mark is moved over.
const MOVES: usize = 8;

for_each_cpu! {
    /// Append a text, with white space as spaces.
    pub fn map(steps: Steps, text: &[u32], units: &mut Vec<u16>) -> Result<(), Refused> {
        let (tables, end) = (Tables::of(steps), units.len());
        units.reserve(text.len());
        let mut has_odd = false;
        for part in stop::parts(text) {
            let start = units.len();
            units.resize(start + part.len(), 0);
            has_odd |= look_up(tables, part, &mut units[start..]);
        }
        if !has_odd {
            return Ok(());
        }
        let mut mapped = Vec::new();
        stop::extend(&mut mapped, units[end..].iter().copied());
        let mut walk = Walk { tables, text, mapped: &mapped, units, end, segment: Segment::default() };
        let (mut place, mut looks) = (0, stop::Looks::after(0));
        while place < text.len() {
            looks.at(place);
            place = walk.copy_block(place)?;
        }
        let end = walk.end;
        units.truncate(end);
        Ok(())
    }
}

struct Walk<'a> {
    tables: &'static Tables,
    text: &'a [u32],
    /// The values to look up for each code point.
    mapped: &'a [u16],
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
    /// Write the next code points, and return where they end.
    #[inline(always)]
    fn copy_block(&mut self, place: usize) -> Result<usize, Refused> {
        let rest = &self.text[place..];
        let mut block = Block::of(&self.mapped[place..]);
        if block.odd == 0 {
            return Ok(place + self.copy(&block, 0, rest.len().min(BLOCK)));
        }
        if block.odd & 1 == 1 {
            return self.copy_odd(place);
        }
        let mut end = rest.len();
        if end > BLOCK {
            // Marks of the last one may follow.
            end = block.last_even(0, BLOCK).unwrap_or(0);
            if end == 0 {
                self.copy(&block, 0, 1);
                return self.copy_odd(place + 1);
            }
        }
        let (mut begin, mut left) = (0, block.odd_before(end));
        while left != 0 {
            let odd = left.trailing_zeros() as usize % BLOCK;
            left &= left - 1;
            if block.add_mark(self.tables, odd, rest[odd]) {
                continue;
            }
            let slow = self.take_back(&mut block, place, begin, odd);
            self.copy(&block, begin, slow);
            begin = self.copy_odd(place + slow)? - place;
            if begin >= end {
                return Ok(place + begin);
            }
            left = block.odd_before(end) >> begin << begin;
        }
        self.copy(&block, begin, end);
        Ok(place + end)
    }

    /// Return from where on the slow way has to go on: an odd code point, or the first mark that it stands with.
    #[inline(always)]
    fn take_back(&self, block: &mut Block, place: usize, begin: usize, odd: usize) -> usize {
        if !self.joins(place + odd) {
            return odd;
        }
        let Some(starter) = block.last_even(begin, odd) else { return begin };
        block.units[starter] = self.mapped[place + starter];
        starter + 1
    }

    /// Write a part of a block, and return where it ends.
    #[inline(always)]
    fn copy(&mut self, block: &Block, begin: usize, end: usize) -> usize {
        let room = self.room::<BLOCK>();
        let mut count = 0;
        if block.kept == u64::MAX {
            count = end - begin;
            room[..count].copy_from_slice(&block.units[begin..end]);
        } else {
            for i in begin..end {
                room[count % BLOCK] = block.units[i];
                count += (block.kept >> i & 1) as usize;
            }
        }
        self.end += count;
        end
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
        for &point in &segment.points {
            self.push_point(u16::try_from(point).map_or(point, |unit| self.tables.folded[usize::from(unit)].into()));
        }
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
    use crate::text::hashing::poly64::fmix64;
    use crate::text::normalise::Folding;
    use crate::text::normalise::unicode::Unicode;

    const STEPS: Steps = Steps {
        nfkc: true,
        casefold: true,
        whitespace: false,
        folding: Folding { han: false, kana: false, accents: false },
    };

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
        let mut marks: Vec<u32> = Unicode::get().compositions.all().map(|(_, second, _)| second).collect();
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
    fn texts_of_many_blocks_become_what_they_are_defined_to() {
        let points: Vec<u32> =
            "aeEkAß ﬁ각\u{1100}\u{1161}\u{11A8}\u{FFC2}क𝒜😀\u{1D15E}ǅ\u{378}\u{50000}ำ\u{E49}\u{E38}"
                .chars()
                .map(u32::from)
                .collect();
        let marks =
            [0x301, 0x302, 0x323, 0x331, 0x328, 0x345, 0x334, 0x64E, 0x651, 0x93C, 0x94D, 0x9BE, 0x1D165, 0xFF9E];
        let mut units = Vec::new();
        for case in 0..crate::tried(3_000) {
            let draw = |i: u64| {
                let random = fmix64(case << 32 | i) as usize;
                let is_mark = random % 16 < case as usize % 17;
                if is_mark { marks[(random >> 8) % marks.len()] } else { points[(random >> 8) % points.len()] }
            };
            let text: Vec<u32> = (0..case % 300).map(draw).collect();
            units.clear();
            assert_eq!(map(STEPS, &text, &mut units), Ok(()));
            assert_eq!(units, defined(&text), "{text:X?}");
        }
    }

    #[test]
    fn surrogates_and_what_is_not_a_code_point_are_refused() {
        for point in [0xD800, 0xDFFF, 0x11_0000, u32::MAX] {
            for text in [&[point][..], &[0x61, point], &[0xFB01, point], &[0x1F600, point, 0x301]] {
                assert_eq!(map(STEPS, text, &mut Vec::new()), Err(Refused));
            }
        }
    }
}
