//! The value of each code point by itself, and the classes of its neighbours.

use std::sync::OnceLock;

use super::Steps;
use super::by_code_point::ByCodePoint;
use super::compositions::step;
use super::definition::Segment;
use super::marks::Marks;
use super::unicode::Unicode;

pub const UNITS: usize = 1 << 16;
/// What no code point becomes, up to `ODD | SORT`: it is looked up by its kind, or by its sort of marks.
const ODD: u16 = 0xD800;
const SORT: u16 = 0x7FF;

/// Whether a mapped unit says that its code point is looked up by its kind.
#[inline(always)]
pub fn is_odd(unit: u16) -> bool {
    unit & !SORT == ODD
}

/// The number of an odd unit's sort of marks (see `Marks::sort`).
#[inline(always)]
pub fn sort_number(unit: u16) -> u16 {
    unit & SORT
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// Becomes one code point, to which the joining ones after it may be added.
    Plain { last_class: u8 },
    /// Not assigned: becomes itself, and nothing joins it.
    Wall,
    /// Becomes the units of `expansion`, unless a joining code point follows.
    Expands { start: u16, length: u8 },
    /// Joins what stands before it: composes with it, or becomes this unit, in the order of classes.
    Mark { class: u8, unit: u16 },
    /// A mark that becomes itself and composes with nothing.
    Inert { class: u8 },
    /// Joins what stands before it in a way that only the definition knows.
    Joins,
    /// A surrogate, or no code point.
    Refused,
}

/// The tables for some steps.
pub struct Tables {
    pub unicode: &'static Unicode,
    pub steps: Steps,
    /// What each code point below U+10000 becomes.
    map: Box<[u16; UNITS]>,
    pub marks: Marks,
    kinds: ByCodePoint<Kind>,
    expansions: Vec<u16>,
    /// What a unit becomes that is not looked up.
    pub folded: &'static [u16; UNITS],
}

impl Tables {
    /// Return the tables for `steps`, which are made when they are first asked for.
    pub fn of(steps: Steps) -> &'static Self {
        static TABLES: [OnceLock<Tables>; 16] = [const { OnceLock::new() }; 16];
        let place = usize::from(steps.nfkc)
            | usize::from(steps.casefold) << 1
            | usize::from(steps.whitespace) << 2
            | usize::from(steps.folding.han) << 3;
        TABLES[place].get_or_init(|| Self::new(steps))
    }

    /// Return what a code point becomes, or an odd unit; it is one below U+10000.
    #[inline(always)]
    pub fn map_unit(&self, unit: u16) -> u16 {
        self.map[usize::from(unit)]
    }

    /// Return what a code point becomes, or an odd unit.
    #[inline(always)]
    pub fn map(&self, point: u32) -> u16 {
        u16::try_from(point).map_or(ODD, |unit| self.map_unit(unit))
    }

    #[inline(always)]
    pub fn kind(&self, point: u32) -> Kind {
        self.kinds.get(point)
    }

    #[inline(always)]
    pub fn expansion(&self, start: u16, length: u8) -> &[u16] {
        &self.expansions[usize::from(start)..][..usize::from(length)]
    }

    fn new(steps: Steps) -> Self {
        let unicode = Unicode::get();
        let plain = Kind::Plain { last_class: 0 };
        let mut tables = Self {
            unicode,
            steps,
            map: Box::new(std::array::from_fn(|point| point as u16)),
            marks: Marks::new(),
            kinds: ByCodePoint::new(&[plain, Kind::Wall, Kind::Refused]),
            expansions: Vec::new(),
            folded: steps.folding.at_once().table(),
        };
        tables.map[0xD800..0xE000].fill(ODD);
        tables.kinds.fill(0xD800, 0xDFFF, Kind::Refused);
        tables.kinds.fill_beyond(Kind::Refused);
        for &(first, last) in &unicode.unassigned {
            tables.kinds.fill(first, last, Kind::Wall);
        }
        tables.add_special();
        // Nothing composes with Han characters, so that they can be folded where they are looked up, at no cost.
        for unit in tables.map.iter_mut().chain(&mut tables.expansions) {
            *unit = tables.folded[usize::from(*unit)];
        }
        let kinds = &tables.kinds;
        tables.marks.compose(unicode, |point| kinds.get(point));
        if steps.whitespace {
            for &(first, last) in &unicode.white_space {
                tables.map[first as usize..=last as usize].fill(u16::from(b' '));
            }
        }
        tables
    }

    fn add_special(&mut self) {
        let unicode = self.unicode;
        let mut composing: Vec<u32> = (0x1100..0x1200).filter(|&point| step(point).is_some()).collect();
        composing.extend(unicode.compositions.all().map(|(_, second, _)| second));
        composing.sort_unstable();
        let mut segment = Segment::default();
        for &point in unicode.special.iter().chain(&composing) {
            segment.points.clear();
            segment.points.push(point);
            segment.fold(unicode, self.steps);
            self.add(point, &segment.points, &composing);
        }
    }

    fn add(&mut self, point: u32, folded: &[u32], composing: &[u32]) {
        let joins = self.steps.nfkc && joins(self.unicode, composing, point);
        let unit = match *folded {
            [folded] => u16::try_from(folded).ok(),
            _ => None,
        };
        let kind = match unit {
            _ if joins => self.joining(composing, point, unit),
            Some(_) if point < UNITS as u32 => Kind::Plain { last_class: self.last_class(point) },
            _ if *folded == [point] => Kind::Plain { last_class: 0 },
            _ => self.expanding(folded),
        };
        if let Some(place) = self.map.get_mut(point as usize) {
            *place = unit.filter(|_| !joins).unwrap_or_else(|| ODD | self.marks.number(kind));
        }
        self.kinds.set(point, kind);
    }

    /// The class of what a code point's decomposition ends with.
    fn last_class(&self, point: u32) -> u8 {
        self.unicode.decomposition(point).last().map_or(0, |&last| self.unicode.class(last))
    }

    fn joining(&self, composing: &[u32], point: u32, unit: Option<u16>) -> Kind {
        match unit {
            Some(unit) if u32::from(unit) == point && composing.binary_search(&point).is_err() => {
                Kind::Inert { class: self.unicode.class(point) }
            }
            Some(unit) if u32::from(unit) == point || step(unit.into()).is_some() => {
                Kind::Mark { class: self.unicode.class(unit.into()), unit }
            }
            _ => Kind::Joins,
        }
    }

    fn expanding(&mut self, folded: &[u32]) -> Kind {
        let start = self.expansions.len();
        for character in folded.iter().filter_map(|&point| char::from_u32(point)) {
            self.expansions.extend_from_slice(character.encode_utf16(&mut [0; 2]));
        }
        Kind::Expands { start: start as u16, length: (self.expansions.len() - start) as u8 }
    }
}

/// Whether a code point may combine with, compose with, or be reordered among those before it, folded or not.
fn joins(unicode: &Unicode, composing: &[u32], point: u32) -> bool {
    let first = |form: &[u32]| form.first().copied().unwrap_or(point);
    [point, first(unicode.decomposition(point)), first(unicode.folding(point))]
        .iter()
        .any(|&first| unicode.class(first) != 0 || composing.binary_search(&first).is_ok())
}
