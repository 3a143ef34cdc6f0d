//! Words by Unicode's default word boundaries (defined in `es_simhash.text.tokens.words`).

mod properties;
mod rules;
mod simple;
mod tables;

use super::spans::Spans;

/// What one thread finds words in.
#[derive(Default)]
pub struct Words {
    simple: simple::Words,
    rules: rules::Words,
}

impl Words {
    /// Append the words of a text of UTF-16 units to `spans`.
    pub fn find(&mut self, units: &[u16], spans: &mut Spans) {
        if !self.simple.find(units, spans) {
            self.rules.find(units, spans);
        }
    }
}
