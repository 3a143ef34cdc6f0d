//! Words by Unicode's default word boundaries (defined in `es_simhash.text.words`).

mod joined;
mod properties;
mod rules;
mod simple;
mod tables;

use super::spans::Spans;

pub use joined::joined;

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::hashing::poly64::fmix64;

    fn words(text: &str, find: impl FnOnce(&[u16], &mut Spans)) -> Vec<String> {
        let (units, mut spans): (Vec<u16>, _) = (text.encode_utf16().collect(), Spans::default());
        find(&units, &mut spans);
        spans.iter().map(|(start, end)| String::from_utf16(&units[start..end]).unwrap()).collect()
    }

    #[test]
    fn words_are_the_segments_with_a_letter_a_digit_or_an_ideograph() {
        for (text, expected) in [
            ("The “brown” fox can’t jump 32.3 feet, right?", "The brown fox can’t jump 32.3 feet right"),
            ("3.14 1,234.5 1:2 a:b 1.a U.S.A. e.g.", "3.14 1,234.5 1 2 a:b 1 a U.S.A e.g"),
            ("snake_case _private __init__ _ __", "snake_case _private __init__"),
            ("ひらがなとカタカナ 한국어", "ひ ら が な と カタカナ 한국어"),
            ("cafe\u{301} co\u{AD}operate zero\u{200B}width", "cafe\u{301} co\u{AD}operate zero width"),
            ("צה\"ל ג'ירפה हिन्दी ไทย", "צה\"ל ג'ירפה हिन्दी ไ ท ย"),
            ("👍🏽 👩‍👩‍👧 🇩🇪 1️⃣ a😀b 𠮷野", "1️⃣ a b 𠮷 野"),
            ("", ""),
        ] {
            let found = words(text, |units, spans| Words::default().find(units, spans));
            assert_eq!(found, expected.split_whitespace().collect::<Vec<_>>(), "{text}");
        }
    }

    #[test]
    fn texts_that_need_few_rules_have_the_words_of_all_rules() {
        let characters: Vec<char> = " ab9_.,:;'’-²éЯ漢あカー…😀".chars().collect();
        let (mut simple, mut rules) = (simple::Words::default(), rules::Words::default());
        for case in 0..crate::tried(2_000) {
            let draw = |i: u64| characters[fmix64(case << 32 | i) as usize % characters.len()];
            let text: String = (0..case % 200).map(draw).collect();
            let found = words(&text, |units, spans| assert!(simple.find(units, spans)));
            assert_eq!(found, words(&text, |units, spans| rules.find(units, spans)), "{text}");
        }
    }
}
