//! All rules of UAX #29 (defined in `es_simhash.text.words`).

use super::properties::{
    ALETTER, ALPHANUMERIC, CR, DOUBLE_QUOTE, EXTEND, EXTENDNUMLET, FORMAT, HEBREW_LETTER, KATAKANA, LF, MIDLETTER,
    MIDNUM, MIDNUMLET, NEWLINE, NUMERIC, PICTOGRAPHIC, REGIONAL_INDICATOR, SINGLE_QUOTE, VALUE, WSEGSPACE, ZWJ,
};
use super::tables::property;
use crate::stop;
use crate::text::points::points;
use crate::text::spans::Spans;

/// Values of Word_Break, as bits.
type Set = u32;

const fn set(values: &[u8]) -> Set {
    let (mut bits, mut i) = (0, 0);
    while i < values.len() {
        bits |= 1 << values[i];
        i += 1;
    }
    bits
}

const LINE_ENDS: Set = set(&[NEWLINE, CR, LF]);
const IGNORABLE: Set = set(&[EXTEND, FORMAT, ZWJ]);
const HEBREW: Set = set(&[HEBREW_LETTER]);
const LETTER: Set = set(&[ALETTER, HEBREW_LETTER]);
const NUMBER: Set = set(&[NUMERIC]);
const KATAKANAS: Set = set(&[KATAKANA]);
const CONNECTOR: Set = set(&[EXTENDNUMLET]);
const APOSTROPHE: Set = set(&[SINGLE_QUOTE]);
const QUOTE: Set = set(&[DOUBLE_QUOTE]);
const MID_LETTER: Set = set(&[MIDLETTER, MIDNUMLET, SINGLE_QUOTE]);
const MID_NUMBER: Set = set(&[MIDNUM, MIDNUMLET, SINGLE_QUOTE]);
const REGIONAL: Set = set(&[REGIONAL_INDICATOR]);

/// (one, the next): no boundary between them.
const PAIRS: [(Set, Set); 5] = [
    (LETTER | NUMBER, LETTER | NUMBER),                   // WB5, WB8, WB9, WB10
    (HEBREW, APOSTROPHE),                                 // WB7a
    (KATAKANAS, KATAKANAS),                               // WB13
    (LETTER | NUMBER | KATAKANAS | CONNECTOR, CONNECTOR), // WB13a
    (CONNECTOR, LETTER | NUMBER | KATAKANAS),             // WB13b
];
/// (one, the next, the one after): no boundary on either side of the one in the middle.
const TRIPLES: [(Set, Set, Set); 3] = [
    (LETTER, MID_LETTER, LETTER), // WB6, WB7
    (HEBREW, QUOTE, HEBREW),      // WB7b, WB7c
    (NUMBER, MID_NUMBER, NUMBER), // WB11, WB12
];

/// A character, with those that only extend it (WB4).
#[derive(Clone, Copy)]
struct Cluster {
    start: usize,
    /// Its value of Word_Break, as a bit.
    value: Set,
    is_alphanumeric: bool,
    /// Whether it belongs to what stands before it by the rules before WB4.
    is_joined: bool,
}

/// What one thread works in.
#[derive(Default)]
pub struct Words {
    clusters: Vec<Cluster>,
}

impl Words {
    /// Append the words of a text.
    pub fn find(&mut self, units: &[u16], spans: &mut Spans) {
        self.clusters.clear();
        find_clusters(units, &mut self.clusters);
        let mut text = Segments::default();
        for (i, &cluster) in self.clusters.iter().enumerate() {
            stop::look_at(i);
            let after = self.clusters.get(i + 1).map_or(0, |next| next.value);
            if !text.joins(cluster, after) {
                text.end_at(cluster.start, spans);
            }
            text.is_word |= cluster.is_alphanumeric;
        }
        text.end_at(units.len(), spans);
    }
}

fn find_clusters(units: &[u16], clusters: &mut Vec<Cluster>) {
    let mut before = 0;
    for (start, point) in points(units) {
        let found = property(point);
        let value = 1 << (found & VALUE);
        let is_alphanumeric = found & ALPHANUMERIC != 0;
        match clusters.last_mut() {
            Some(last) if value & IGNORABLE != 0 && before & LINE_ENDS == 0 => {
                last.is_alphanumeric |= is_alphanumeric;
            }
            _ => {
                let is_joined = before & 1 << CR != 0 && value & 1 << LF != 0 // WB3
                    || before & 1 << ZWJ != 0 && found & PICTOGRAPHIC != 0 // WB3c
                    || before & value & 1 << WSEGSPACE != 0; // WB3d
                clusters.push(Cluster { start, value, is_alphanumeric, is_joined });
            }
        }
        before = value;
    }
}

/// The state between two clusters of a text.
#[derive(Default)]
struct Segments {
    start: usize,
    /// Whether the segment has something alphanumeric.
    is_word: bool,
    before: Set,
    before_that: Set,
    /// The regional indicators directly before.
    indicators: usize,
}

impl Segments {
    /// Go on to the next cluster; return whether it belongs to the segment before it.
    fn joins(&mut self, cluster: Cluster, after: Set) -> bool {
        let (before_that, before, here) = (self.before_that, self.before, cluster.value);
        self.indicators = if here & REGIONAL != 0 && before & REGIONAL != 0 { self.indicators + 1 } else { 0 };
        (self.before_that, self.before) = (before, here);
        cluster.is_joined
            || self.indicators % 2 == 1 // WB15, WB16
            || PAIRS.iter().any(|&(one, next)| before & one != 0 && here & next != 0)
            || TRIPLES.iter().any(|&(one, middle, last)| {
                before & one != 0 && here & middle != 0 && after & last != 0
                    || before_that & one != 0 && before & middle != 0 && here & last != 0
            })
    }

    /// End the segment, and keep it if it is a word.
    fn end_at(&mut self, end: usize, spans: &mut Spans) {
        if self.is_word {
            spans.push(self.start, end);
        }
        (self.start, self.is_word) = (end, false);
    }
}
