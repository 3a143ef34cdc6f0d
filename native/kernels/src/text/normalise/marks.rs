//! Marks that are added to the starter before them by one look-up.

use super::compositions::{Before, Step, follows, step};
use super::tables::{Kind, UNITS};
use super::unicode::Unicode;

/// More than there are sorts of marks, and marks that compose.
const SORTS: usize = 1 << 11;
const COLUMNS: usize = 64;

/// Columns of marks that compose with nothing, of jamo, and of what is not such a mark.
const INERT: u8 = 0;
const FIRST_JAMO: u8 = 61;
const VOWEL: u8 = FIRST_JAMO;
const TRAILING: u8 = 62;
const NONE: u8 = 63;

// What a cell holds that is not a composed unit.
/// Only the slow way knows.
const UNKNOWN: u16 = 0;
/// The mark stays next to its starter.
const APART: u16 = 1;
/// The mark's step makes a syllable.
const SYLLABLE: u16 = 2;

/// What all marks have in common that are treated alike.
#[derive(Clone, Copy, PartialEq)]
pub struct Sort {
    pub class: u8,
    column: u8,
    /// What it becomes where it stays; an inert one becomes itself.
    unit: u16,
    step: Option<Step>,
}

/// What comes of a mark.
pub enum Added {
    /// It becomes part of its starter, which is this then.
    Composed(u16),
    /// It stays, as this.
    Apart(u16),
    Unknown,
}

/// The marks below U+10000.
pub struct Marks {
    sorts: Box<[Sort; SORTS]>,
    /// How many sorts there are; the first one is not a mark.
    count: usize,
    /// For each unit the line of cells that it has as a starter.
    lines: Box<[u16; UNITS]>,
    /// What composes with the marks of each column.
    cells: Vec<[u16; COLUMNS]>,
}

impl Sort {
    #[inline(always)]
    pub fn is_inert(self) -> bool {
        self.column == INERT
    }
}

impl Marks {
    pub fn new() -> Self {
        let none = Sort { class: 0, column: NONE, unit: 0, step: None };
        Self { sorts: Box::new([none; SORTS]), count: 1, lines: Box::new([0; UNITS]), cells: vec![[UNKNOWN; COLUMNS]] }
    }

    /// Return the number of the sort of a code point of this kind, or 0 if it is not a mark.
    pub fn number(&mut self, kind: Kind) -> u16 {
        let sort = match kind {
            Kind::Inert { class } => Sort { class, column: INERT, unit: 0, step: None },
            Kind::Mark { class, unit } => {
                let step = step(unit.into());
                let known = self.known().iter().find(|known| known.unit == unit);
                let column = match step.map(|step| step.after) {
                    Some(Before::Leading) => VOWEL,
                    Some(Before::OpenSyllable) => TRAILING,
                    None => known.map_or_else(|| self.next_column(), |known| known.column),
                };
                Sort { class, column, unit, step }
            }
            _ => return 0,
        };
        let number = self.known().iter().position(|&known| known == sort).unwrap_or(self.count);
        if number == self.count {
            self.sorts[number] = sort;
            self.count += 1;
        }
        number as u16
    }

    fn known(&self) -> &[Sort] {
        &self.sorts[..self.count]
    }

    fn next_column(&self) -> u8 {
        let columns = self.known().iter().map(|sort| sort.column).filter(|&column| column < FIRST_JAMO);
        columns.max().unwrap_or(INERT) + 1
    }

    /// Fill the cells, once all marks have their numbers.
    pub fn compose(&mut self, unicode: &Unicode, kind: impl Fn(u32) -> Kind) {
        let mut shared = Vec::new();
        for unit in 0..UNITS as u32 {
            let last_class = match kind(unit) {
                Kind::Plain { last_class } => last_class,
                Kind::Wall => 0,
                _ => continue,
            };
            let traits = (last_class, follows(unit));
            let known = shared.iter().find(|&&(known, _)| known == traits).map(|&(_, line)| line);
            self.lines[unit as usize] = known.unwrap_or_else(|| {
                let line = self.add_line(last_class, follows(unit));
                shared.push((traits, line));
                line
            });
        }
        let shared = self.cells.len();
        for (first, second, composed) in unicode.compositions.all() {
            if let (Ok(first), Ok(second), Ok(composed)) = (first.try_into(), second.try_into(), composed.try_into()) {
                self.add(first, second, composed, shared);
            }
        }
    }

    /// Add a line for starters with which at most jamo compose, and which end with a mark of this class, or 0.
    fn add_line(&mut self, last_class: u8, follows: Option<Before>) -> u16 {
        let mut line = [UNKNOWN; COLUMNS];
        for sort in self.known().iter().filter(|sort| sort.column < NONE) {
            if sort.class == 0 || sort.class >= last_class {
                let is_syllable = follows.is_some() && sort.step.map(|step| step.after) == follows;
                line[usize::from(sort.column)] = if is_syllable { SYLLABLE } else { APART };
            }
        }
        self.cells.push(line);
        self.cells.len() as u16 - 1
    }

    fn add(&mut self, first: u16, second: u16, composed: u16, shared: usize) {
        let is_second = |sort: &&Sort| sort.unit == second && sort.column < NONE;
        let Some(&sort) = self.known().iter().find(is_second) else { return };
        let line = &mut self.lines[usize::from(first)];
        if usize::from(*line) < shared {
            self.cells.push(self.cells[usize::from(*line)]);
            *line = self.cells.len() as u16 - 1;
        }
        let cell = &mut self.cells[usize::from(*line)][usize::from(sort.column)];
        if *cell == APART {
            *cell = composed;
        }
    }

    /// The sort of that number.
    #[inline(always)]
    pub fn sort(&self, number: u16) -> Sort {
        self.sorts[usize::from(number) % SORTS]
    }

    /// Return what comes of a mark that is not inert, after the unit before it.
    #[inline(always)]
    pub fn add_to(&self, before: u16, mark: Sort) -> Added {
        let line = usize::from(self.lines[usize::from(before)]);
        match self.cells[line][usize::from(mark.column) % COLUMNS] {
            UNKNOWN => Added::Unknown,
            APART => Added::Apart(mark.unit),
            SYLLABLE => mark.step.map_or(Added::Unknown, |step| Added::Composed(step.from(before.into()) as u16)),
            composed => Added::Composed(composed),
        }
    }
}
