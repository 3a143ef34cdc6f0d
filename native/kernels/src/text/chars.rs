//! Hashed character n-grams: every window of n code points; a shorter text is its own only n-gram.

use super::hashing::poly64::{BASE, fmix64, four, polynomial, polynomial_at};
use super::points::points;
use super::spans::Spans;
use crate::{for_each_cpu, stop};

/// Zeros that must follow the units of a text, so that each unit begins a whole word.
pub const PADDING: usize = 4;

/// Code points of an n-gram that is too long to read each.
const LONG: usize = 64;

/// Pairs stand at least this many units apart, on average, if `windows` pays between them.
const FEW: usize = 16;

/// Append the polynomials of the n-grams of a text of UTF-16 units to `polynomials`.
///
/// `units` is followed by `PADDING` zeros, which are not part of the text.
pub fn polynomials(units: &[u16], n: usize, has_pairs: bool, polynomials: &mut Vec<u64>) {
    let length = units.len() - PADDING;
    if length == 0 {
        return;
    }
    let pairs = if has_pairs { units.iter().filter(|&&unit| is_high(unit)).count() } else { 0 };
    if n > LONG || pairs > length / FEW {
        let mut grams = Spans::default();
        spans(&units[..length], n, &mut grams);
        return grams.polynomials(&units[..length], polynomials);
    }
    if pairs > 0 {
        return of_pairs(units, n, polynomials);
    }
    if length < n {
        polynomials.push(polynomial(&units[..length]));
        return;
    }
    append_windows(units, n, length - n + 1, polynomials);
}

/// Append the polynomials of the first `count` windows of `n` units.
fn append_windows(units: &[u16], n: usize, count: usize, polynomials: &mut Vec<u64>) {
    let first = polynomials.len();
    polynomials.reserve(count);
    for start in (0..count).step_by(stop::FEW) {
        stop::look_at(start);
        let done = first + start;
        polynomials.resize(done + (count - start).min(stop::FEW), 0);
        windows(&units[start..], n, &mut polynomials[done..]);
    }
}

/// n-grams of texts with code points beyond U+FFFF, which are pairs of units: `windows` hashes those between pairs.
fn of_pairs(units: &[u16], n: usize, polynomials: &mut Vec<u64>) {
    let text = &units[..units.len() - PADDING];
    let (mut start, mut end) = (0, points(text).nth(n).map_or(text.len(), |(end, _)| end));
    let mut looks = stop::Looks::after(start);
    loop {
        looks.at(start);
        if end - start == n {
            let pair = end + text[end..].iter().position(|&unit| is_high(unit)).unwrap_or(text.len() - end);
            let count = pair - end + 1;
            append_windows(&units[start..], n, count, polynomials);
            (start, end) = (start + count - 1, pair);
        } else {
            polynomials.push(polynomial_at(text, start, end));
        }
        if end == text.len() {
            return;
        }
        start += 1 + usize::from(is_high(text[start]));
        end += 1 + usize::from(is_high(text[end]));
    }
}

fn is_high(unit: u16) -> bool {
    (0xD800..0xDC00).contains(&unit)
}

/// Replace `spans` by the n-grams of a text.
pub fn spans(units: &[u16], n: usize, spans: &mut Spans) {
    spans.clear();
    spans.starts.extend(points(units).map(|(start, _)| start));
    let count = spans.starts.len();
    let windows = (count + 1).saturating_sub(n).max(usize::from(count > 0));
    stop::extend(&mut spans.ends, spans.starts[(count + 1 - windows).min(count)..].iter().copied());
    spans.ends.extend((count > 0).then_some(units.len()));
    spans.starts.truncate(windows);
}

for_each_cpu! {
    /// Write the polynomials of all windows of `n` units.
    fn windows(units: &[u16], n: usize, polynomials: &mut [u64]) {
        let count = polynomials.len();
        let length = (n as u64).wrapping_mul(BASE);
        for_words(units, 0, n, count, polynomials, |_, word| length.wrapping_add(word));
        let mut done = 4;
        while done < n {
            for_words(units, done, n - done, count, polynomials, |p, word| p.wrapping_mul(BASE).wrapping_add(word));
            done += 4;
        }
    }
}

/// Combine each polynomial with the word that begins `from` units after its window does, cut to `left` units.
#[inline(always)]
fn for_words(
    units: &[u16],
    from: usize,
    left: usize,
    count: usize,
    polynomials: &mut [u64],
    combine: impl Fn(u64, u64) -> u64,
) {
    let kept = if left >= 4 { u64::MAX } else { (1 << (16 * left)) - 1 };
    let [a, b, c, d] = [0, 1, 2, 3].map(|i| &units[(from + i).min(units.len())..]);
    // The last windows end before the words of the others do.
    let whole = count.min(d.len());
    let (a, b, c, d) = (&a[..whole], &b[..whole], &c[..whole], &d[..whole]);
    for i in 0..whole {
        let word = four([a[i], b[i], c[i], d[i]]) & kept;
        polynomials[i] = combine(polynomials[i], word);
    }
}

for_each_cpu! {
    /// Mix polynomials to hashes, in place.
    pub fn mix(polynomials: &mut [u64]) {
        for p in polynomials {
            *p = fmix64(*p);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_of_code_points() {
        let few = "few pairs, 😀 far from each other: ".repeat(3);
        let texts = ["a😀", "😀", "😀😀😀b😀cd", "many 😀 pairs 😀😀 😀", "no pair at all", &few, &few[15..]];
        let most = if cfg!(miri) { 4 } else { 12 };
        for (text, n) in texts.iter().flat_map(|text| (1..most).chain([LONG + 1]).map(move |n| (text, n))) {
            let mut units: Vec<u16> = text.encode_utf16().collect();
            let mut grams = Spans::default();
            spans(&units, n, &mut grams);
            let expected: Vec<u64> = grams.iter().map(|(start, end)| polynomial(&units[start..end])).collect();
            let characters: Vec<char> = text.chars().collect();
            assert_eq!(expected.len(), (characters.len() + 1).saturating_sub(n).max(1));
            units.extend([0; PADDING]);
            for has_pairs in [true, text.contains('😀')] {
                let mut found = Vec::new();
                polynomials(&units, n, has_pairs, &mut found);
                assert_eq!(found, expected, "{text} {n}");
            }
        }
    }
}
