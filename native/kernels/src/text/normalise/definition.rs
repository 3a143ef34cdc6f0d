//! Normalisation of some code points by its definition: what the quick way does not know comes here.

use super::Steps;
use super::compositions::jamo;
use super::unicode::Unicode;

/// Above the 21 bits of a code point stands its class while it is sorted.
const CLASS: u32 = 24;
const POINT: u32 = (1 << CLASS) - 1;

/// What code points are normalised in.
#[derive(Default)]
pub struct Segment {
    pub points: Vec<u32>,
    decomposed: Vec<u32>,
}

impl Segment {
    /// Take the first two steps, on code points that Unicode 13.0 has.
    pub fn fold(&mut self, unicode: &Unicode, steps: Steps) {
        if steps.nfkc {
            self.nfkc(unicode);
        }
        // What folding leaves alone is normalised.
        if steps.casefold && self.casefold(unicode) && steps.nfkc {
            self.nfkc(unicode);
        }
    }

    fn nfkc(&mut self, unicode: &Unicode) {
        self.decompose(unicode);
        self.compose(unicode);
    }

    fn decompose(&mut self, unicode: &Unicode) {
        self.decomposed.clear();
        for &point in &self.points {
            if let Some((jamo, length)) = jamo(point) {
                self.decomposed.extend_from_slice(&jamo[..length]);
                continue;
            }
            let decomposition = unicode.decomposition(point);
            let parts = if decomposition.is_empty() { &[point] } else { decomposition };
            self.decomposed.extend(parts.iter().map(|&part| u32::from(unicode.class(part)) << CLASS | part));
        }
        for marks in self.decomposed.split_mut(|&point| point >> CLASS == 0) {
            marks.sort_by_key(|&point| point >> CLASS);
        }
    }

    fn compose(&mut self, unicode: &Unicode) {
        self.points.clear();
        let (mut starter, mut class_before) = (None, 0);
        for &point in &self.decomposed {
            let (class, point) = (point >> CLASS, point & POINT);
            if let Some(starter) = starter {
                let is_next = starter + 1 == self.points.len();
                if (is_next || class_before < class)
                    && let Some(composed) = unicode.compositions.get(self.points[starter], point)
                {
                    self.points[starter] = composed;
                    continue;
                }
            }
            if class == 0 {
                starter = Some(self.points.len());
            }
            class_before = class;
            self.points.push(point);
        }
    }

    /// Return whether anything changed.
    fn casefold(&mut self, unicode: &Unicode) -> bool {
        if self.points.iter().all(|&point| unicode.folding(point).is_empty()) {
            return false;
        }
        self.decomposed.clear();
        for &point in &self.points {
            let folding = unicode.folding(point);
            let parts = if folding.is_empty() { &[point] } else { folding };
            self.decomposed.extend_from_slice(parts);
        }
        std::mem::swap(&mut self.points, &mut self.decomposed);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::Folding;
    use super::*;

    fn folded(text: &str, nfkc: bool, casefold: bool) -> String {
        let mut segment = Segment { points: text.chars().map(u32::from).collect(), ..Default::default() };
        segment.fold(Unicode::get(), Steps { nfkc, casefold, whitespace: false, folding: Folding::default() });
        segment.points.iter().filter_map(|&point| char::from_u32(point)).collect()
    }

    #[test]
    fn forms_are_composed_and_folded() {
        assert_eq!(folded("e\u{301}\u{323}", true, false), "\u{1EB9}\u{301}");
        assert_eq!(folded("\u{1112}\u{1161}\u{11AB}", true, true), "한");
        assert_eq!(folded("한\u{301}", true, true), "한\u{301}");
        assert_eq!(folded("H\u{331}", true, true), "\u{1E96}");
        assert_eq!(folded("\u{1E9E}ﬁ", true, true), "ssfi");
        assert_eq!(folded("\u{345}\u{301}", true, true), "\u{301}ι");
        assert_eq!(folded("ẞﬁÉ", false, true), "ssfié");
        assert_eq!(folded("a\u{5D0}\u{308}\u{308}b", true, true), "a\u{5D0}\u{308}\u{308}b");
    }
}
