//! Pairs of documents that share a key, from sorted entries.

use super::entries::{POSITION_BITS, POSITIONS};

/// Entries after which a call returns, which take some milliseconds.
const ENTRIES: usize = if cfg!(test) { 3 } else { 1 << 20 };

/// A key that many documents share: their number, and the entry of the last.
pub type HotKey = (u64, u64);

/// Pairs each document with those before it that share its key, as `es_simhash.groups.pairs.candidates.Linker` does.
///
/// Sorted entries come in pieces; what must be known of earlier pieces is kept.
pub struct Linker {
    all: usize,
    few: usize,
    most: usize,
    hot_from: u64,
    /// The last documents with the last entry's key: `all` of them, and others up to this many.
    before: Vec<u64>,
    most_before: usize,
    last: Option<u64>,
    /// The number of documents with the last entry's key before the last entry.
    followed: u64,
    /// The number of pairs left out.
    pub left_out: u64,
    /// The number of documents that are not paired.
    pub cut_off: u64,
    /// The keys shared by `hot_from` documents or more.
    pub hot: Vec<HotKey>,
}

impl Linker {
    /// `few` is at most `all`; keys of at least `hot_from` documents, two or more, are noted as `hot`.
    pub fn new(all: usize, few: usize, most: Option<usize>, hot_from: u64) -> Self {
        Self {
            all,
            few: few.min(all),
            most: most.unwrap_or(usize::MAX),
            hot_from,
            before: Vec::new(),
            most_before: all.saturating_mul(2),
            last: None,
            followed: 0,
            left_out: 0,
            cut_off: 0,
            hot: Vec::new(),
        }
    }

    /// Append the pairs of the next entries to `codes`, until these are `limit` or just more, or many entries were read;
    /// return how many.
    pub fn link(&mut self, entries: &[u64], limit: usize, codes: &mut Vec<u64>) -> usize {
        let entries = &entries[..entries.len().min(ENTRIES)];
        let mut read = 0;
        while read < entries.len() && codes.len() < limit {
            let entry = entries[read];
            if self.last.is_some_and(|last| share_key(last, entry)) {
                self.followed += 1;
                self.pair(entry, codes);
            } else {
                self.end();
                let alone = 1 + entries[read..].windows(2).take_while(|pair| !share_key(pair[0], pair[1])).count();
                read += alone - 1;
                self.followed = 0;
            }
            self.remember(entries[read]);
            read += 1;
        }
        read
    }

    /// Note that no more entries come.
    pub fn end(&mut self) {
        if let Some(last) = self.last.take()
            && self.followed + 1 >= self.hot_from
        {
            self.hot.push((self.followed + 1, last));
        }
        self.before.clear();
    }

    fn pair(&mut self, entry: u64, codes: &mut Vec<u64>) {
        let rank = self.followed;
        let mut count = if rank <= self.all as u64 { rank } else { self.few as u64 };
        if rank >= self.most as u64 {
            count = 0;
            self.cut_off += 1;
        }
        self.left_out += rank - count;
        let nearest_first = self.before.iter().rev().take(count as usize);
        codes.extend(nearest_first.map(|first| first << POSITION_BITS | entry & POSITIONS));
    }

    fn remember(&mut self, entry: u64) {
        self.last = Some(entry);
        if self.before.len() >= self.most_before {
            self.before.drain(..self.before.len() - self.all);
        }
        self.before.push(entry);
    }
}

fn share_key(one: u64, other: u64) -> bool {
    (one ^ other) <= POSITIONS
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(keys: &[u64]) -> Vec<u64> {
        keys.iter().zip(0..).map(|(key, position)| key << POSITION_BITS | position).collect()
    }

    fn pairs(linker: &mut Linker, entries: &[u64], limit: usize) -> Vec<(u64, u64)> {
        let (mut codes, mut read) = (Vec::new(), 0);
        while read < entries.len() {
            let mut some = Vec::new();
            read += linker.link(&entries[read..], limit, &mut some);
            codes.extend(some);
        }
        codes.iter().map(|code| (code >> POSITION_BITS, code & POSITIONS)).collect()
    }

    #[test]
    fn all_before_are_paired_up_to_a_limit_and_then_a_few() {
        for limit in [1, 2, 100] {
            let mut linker = Linker::new(2, 1, None, 3);
            let found = pairs(&mut linker, &entries(&[1, 2, 2, 3, 9, 9, 9, 9, 9]), limit);
            assert_eq!(found, [(1, 2), (4, 5), (5, 6), (4, 6), (6, 7), (7, 8)]);
            assert_eq!((linker.left_out, linker.cut_off), (5, 0));
            linker.end();
            assert_eq!(linker.hot, [(5, 9 << POSITION_BITS | 8)]);
        }
    }

    #[test]
    fn a_call_reads_some_entries_only() {
        let mut linker = Linker::new(2, 1, None, 3);
        assert_eq!(linker.link(&entries(&[1, 2, 3, 4, 5]), 100, &mut Vec::new()), ENTRIES);
    }

    #[test]
    fn documents_with_too_many_before_them_are_cut_off() {
        let mut linker = Linker::new(2, 1, Some(2), 9);
        assert_eq!(pairs(&mut linker, &entries(&[5, 5, 5, 5]), 9), [(0, 1)]);
        assert_eq!((linker.left_out, linker.cut_off), (5, 2));
    }
}
