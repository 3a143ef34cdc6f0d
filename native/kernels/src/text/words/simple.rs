//! The words of texts that need few of the rules: the traits of a unit and its two neighbours decide.
//!
//! Loops over bytes, and no branches, which processors could not foresee.

use super::tables::{COMMON, HARD, IN_WORD, JOINS, NO_WORD_ALONE, traits};
use crate::bits::bits_of;
use crate::text::spans::Spans;
use crate::{for_each_cpu, stop};

/// Edges are found in blocks of this many, as the bits of a word.
const BLOCK: usize = 64;

/// What one thread works in.
#[derive(Default)]
pub struct Words {
    /// The traits of each unit, after one 0 and before others.
    traits: Vec<u8>,
    /// The same, with `JOINS` where a unit joins those on both sides of it.
    joined: Vec<u8>,
    /// Bit i: a word starts at unit i.
    starts: Vec<u64>,
    /// Bit i: a word ends before unit i.
    ends: Vec<u64>,
}

impl Words {
    /// Append the words of a text, and return true; or return false if the text needs all the rules.
    pub fn find(&mut self, units: &[u16], spans: &mut Spans) -> bool {
        let blocks = units.len() / BLOCK + 1;
        self.traits.clear();
        stop::resize(&mut self.traits, blocks * BLOCK + 2);
        let met = look_up(units, traits(), &mut self.traits[1..=units.len()]);
        if met & HARD != 0 {
            return false;
        }
        stop::resize(&mut self.joined, self.traits.len());
        join_over_middles(&self.traits, &mut self.joined);
        self.starts.resize(blocks, 0);
        self.ends.resize(blocks, 0);
        find_edges(&self.joined, &mut self.starts, &mut self.ends);
        let first = spans.starts.len();
        positions(&self.starts, &mut spans.starts);
        positions(&self.ends, &mut spans.ends);
        if met & NO_WORD_ALONE != 0 {
            spans.retain_from(first, |start, end| self.traits[start + 1..=end].iter().any(|t| t & IN_WORD != 0));
        }
        true
    }
}

/// Look up the traits of units, and return all that were met.
fn look_up(units: &[u16], table: &[u8; 1 << 16], traits: &mut [u8]) -> u8 {
    let mut met = 0;
    for (places, units) in stop::parts_mut(traits).zip(units.chunks(stop::FEW)) {
        for (place, &unit) in places.iter_mut().zip(units) {
            let found = table[usize::from(unit)];
            *place = found;
            met |= found;
        }
    }
    met
}

for_each_cpu! {
    /// Let the apostrophe of "can't" and the point of "3.14" join with their neighbours (WB6, 7, 11, 12).
    fn join_over_middles(traits: &[u8], joined: &mut [u8]) {
        let inner = traits.len() - 2;
        let (before, here, after) = (&traits[..inner], &traits[1..=inner], &traits[2..]);
        for (i, place) in joined[1..=inner].iter_mut().enumerate() {
            let common = before[i] & after[i] & (here[i] | JOINS) & COMMON;
            *place = here[i] | if common > JOINS { JOINS } else { 0 };
        }
    }
}

for_each_cpu! {
    /// Find where words start and end.
    fn find_edges(traits: &[u8], starts: &mut [u64], ends: &mut [u64]) {
        for (block, (start, end)) in starts.iter_mut().zip(ends).enumerate() {
            let around = &traits[block * BLOCK..block * BLOCK + BLOCK + 1];
            let (before, here) = (&around[..BLOCK], &around[1..]);
            let (mut is_start, mut is_end) = ([0_u8; BLOCK], [0_u8; BLOCK]);
            for i in 0..BLOCK {
                let apart = u8::from(before[i] & here[i] < JOINS);
                is_start[i] = apart & u8::from(here[i] >= IN_WORD);
                is_end[i] = apart & u8::from(before[i] >= IN_WORD);
            }
            *start = bits_of(&is_start);
            *end = bits_of(&is_end);
        }
    }
}

/// Append the positions of the bits that are set.
fn positions(blocks: &[u64], positions: &mut Vec<usize>) {
    for (block, &bits) in blocks.iter().enumerate() {
        stop::look_at(block);
        let mut left = bits;
        while left != 0 {
            positions.push(block * BLOCK + left.trailing_zeros() as usize);
            left &= left - 1;
        }
    }
}
