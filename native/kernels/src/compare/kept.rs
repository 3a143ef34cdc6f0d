//! The compared parts of many texts, by the number of the text, kept as far as memory allows.

use std::collections::{HashMap, VecDeque};

use super::comparer::Comparable;

#[derive(Default)]
pub struct Kept {
    texts: HashMap<i64, Comparable>,
    /// The numbers, those that came first in front.
    order: VecDeque<i64>,
    size: usize,
}

impl Kept {
    pub fn get(&self, number: i64) -> Option<&Comparable> {
        self.texts.get(&number)
    }

    /// Keep a text that is not here yet.
    pub fn put(&mut self, number: i64, text: Comparable) {
        self.size += text.size();
        if let Some(before) = self.texts.insert(number, text) {
            self.size -= before.size();
        } else {
            self.order.push_back(number);
        }
    }

    /// Drop the texts that came first until the others take at most `limit` bytes.
    pub fn make_room(&mut self, limit: usize) {
        while self.size > limit
            && let Some(number) = self.order.pop_front()
        {
            self.size -= self.texts.remove(&number).map_or(0, |text| text.size());
        }
    }
}
