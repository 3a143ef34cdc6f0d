//! White space, which is mapped to spaces before.

use crate::{for_each_cpu, stop};

const SPACE: u16 = b' ' as u16;

/// What a look at all units of a text finds.
#[derive(Clone, Copy)]
pub struct Found {
    /// Two spaces stand side by side.
    pub has_runs: bool,
    pub has_pairs: bool,
}

/// Look at the units of a text.
pub fn look(units: &[u16]) -> Found {
    let mut all = Found { has_runs: false, has_pairs: false };
    for (part, end) in stop::parts(units).zip((stop::FEW..).step_by(stop::FEW)) {
        // What stands side by side may be in two parts.
        let found = look_in(&units[end - stop::FEW..(end - stop::FEW + part.len() + 1).min(units.len())]);
        all.has_runs |= found.has_runs;
        all.has_pairs |= found.has_pairs;
    }
    all
}

for_each_cpu! {
    fn look_in(units: &[u16]) -> Found {
        let (mut runs, mut pairs) = (0, 0);
        for (&unit, &next) in units.iter().zip(units.get(1..).unwrap_or_default()) {
            runs |= u16::from((unit ^ SPACE) | (next ^ SPACE) == 0);
            pairs |= u16::from(unit & 0xF800 == 0xD800);
        }
        Found { has_runs: runs != 0, has_pairs: pairs != 0 }
    }
}

/// Leave one space of each run, and none at the ends of the text that begins at `first`.
pub fn collapse(units: &mut Vec<u16>, first: usize, found: Found) {
    while units.len() > first && units.last() == Some(&SPACE) {
        units.pop();
        stop::look_at(units.len());
    }
    if found.has_runs || units.get(first) == Some(&SPACE) {
        leave_one(units, first);
    }
}

fn leave_one(units: &mut Vec<u16>, first: usize) {
    let mut kept = first;
    let mut before = SPACE;
    for i in first..units.len() {
        stop::look_at(i);
        let unit = units[i];
        units[kept] = unit;
        kept += usize::from(unit != SPACE || before != SPACE);
        before = unit;
    }
    units.truncate(kept);
}
