//! The numbers of a text, and the text without them (defined in `es_simhash.text.numbers`).

use std::cmp::Ordering;

use super::Refused;
use super::digits;
use super::hashing::poly64::polynomial;
use super::hashing::{Hash, Width};
use super::runs::Dense;
use super::weighted::Features;
use crate::{for_each_cpu, stop};

/// Code points of the runs that begin in a dense script.
pub const DENSE: Dense = Dense::Two;
/// Runs that a number weighs as much as.
pub const WEIGHT: usize = 7;

/// What begins the tokens of a number.
const PREFIXES: [u8; WEIGHT] = [1, 2, 3, 4, 5, 6, 7];
const MASK: u16 = b'0' as u16;
/// So many numbers that count up from 1 are left out.
const COUNTED: usize = 3;

const SEPARATORS: [u16; 3] = [b',' as u16, b'\'' as u16, '’' as u16];
const GROUP: usize = 3;

const CHINESE: [(u16, Meaning); 18] = [
    ('〇' as u16, Meaning::Digit(0)),
    ('零' as u16, Meaning::Digit(0)),
    ('一' as u16, Meaning::Digit(1)),
    ('二' as u16, Meaning::Digit(2)),
    ('三' as u16, Meaning::Digit(3)),
    ('四' as u16, Meaning::Digit(4)),
    ('五' as u16, Meaning::Digit(5)),
    ('六' as u16, Meaning::Digit(6)),
    ('七' as u16, Meaning::Digit(7)),
    ('八' as u16, Meaning::Digit(8)),
    ('九' as u16, Meaning::Digit(9)),
    ('十' as u16, Meaning::Unit(10)),
    ('百' as u16, Meaning::Unit(100)),
    ('千' as u16, Meaning::Unit(1000)),
    ('万' as u16, Meaning::Low),
    ('萬' as u16, Meaning::Low),
    ('亿' as u16, Meaning::High),
    ('億' as u16, Meaning::High),
];
/// The lengths of Chinese numerals.
const LEAST: usize = 2;
const MOST: usize = 16;

/// Units that are looked through for numerals at once.
const PART: usize = 1 << 8;

/// A number, in ASCII digits without leading zeros; in the order of their values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Number(Box<[u8]>);

#[derive(Clone, Copy)]
enum Meaning {
    Digit(u128),
    Unit(u128),
    /// 10 ** 4.
    Low,
    /// 10 ** 8.
    High,
}

/// Return the numbers of a normalised text that have tokens, in ascending order.
pub fn numbers_of(units: &[u16]) -> Vec<Number> {
    let (mut numbers, mut search) = (Vec::new(), Search::default());
    while let Some(numeral) = search.next(units) {
        numbers.push(numeral.number);
    }
    distinct(numbers)
}

/// Put a 0 in the place of each numeral; return the same numbers.
pub fn mask(units: &mut Vec<u16>) -> Vec<Number> {
    let (mut numbers, mut search) = (Vec::new(), Search::default());
    let (mut read, mut written) = (0, 0);
    while let Some(Numeral { start, end, number }) = search.next(units) {
        units.copy_within(read..start, written);
        written += start - read;
        units[written] = MASK;
        written += 1;
        read = end;
        numbers.push(number);
    }
    if read > 0 {
        units.copy_within(read.., written);
        units.truncate(written + units.len() - read);
    }
    distinct(numbers)
}

/// Append the polynomials of the tokens of numbers.
pub fn polynomials(numbers: &[Number], polynomials: &mut Vec<u64>) {
    let mut token = Vec::new();
    for number in numbers {
        token.clear();
        token.push(0);
        stop::extend(&mut token, number.digits().iter().map(|&digit| u16::from(digit)));
        for prefix in PREFIXES {
            stop::look();
            token[0] = prefix.into();
            polynomials.push(polynomial(&token));
        }
    }
}

/// Append the hashes of the tokens of numbers.
pub fn hash(numbers: &[Number], hash: Hash, width: Width, features: &mut Features) -> Result<(), Refused> {
    let Hash::OfBytes(hash) = hash else { return Err(Refused) };
    let mut token = Vec::new();
    for number in numbers {
        token.clear();
        token.push(0);
        token.extend_from_slice(number.digits());
        for prefix in PREFIXES {
            stop::look();
            token[0] = prefix;
            features.push(hash.hash(&token, width), width);
        }
    }
    Ok(())
}

impl Number {
    /// The number that these digits are; the first may be zeros.
    fn of(digits: &[u8]) -> Self {
        let zeros = digits.iter().take_while(|&&digit| digit == b'0').count();
        Self(digits[zeros.min(digits.len() - 1)..].into())
    }

    pub fn digits(&self) -> &[u8] {
        &self.0
    }

    /// The bytes that it takes.
    pub fn size(&self) -> usize {
        size_of::<Self>() + self.0.len()
    }
}

impl Ord for Number {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.0.len(), &self.0).cmp(&(other.0.len(), &other.0))
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Return each number once, in ascending order, without those that count up from 1.
fn distinct(mut numbers: Vec<Number>) -> Vec<Number> {
    stop::sort(&mut numbers);
    numbers.dedup();
    let one = numbers.iter().position(|number| number.digits() != b"0").unwrap_or_default();
    let counts = numbers[one..].iter().zip(1_usize..);
    let counted = counts.take_while(|(number, count)| number.digits() == count.to_string().as_bytes()).count();
    if counted >= COUNTED {
        numbers.drain(one..one + counted);
    }
    numbers
}

/// What stands from `start` up to `end`.
struct Numeral {
    start: usize,
    end: usize,
    number: Number,
}

/// A search for the numerals of a text, one after the other.
#[derive(Default)]
struct Search {
    at: usize,
    /// The end of a part that may have numerals.
    end: usize,
    digits: Vec<u8>,
}

impl Search {
    /// Return the next numeral. What precedes it may have changed since the last one.
    fn next(&mut self, units: &[u16]) -> Option<Numeral> {
        while let Some(start) = self.candidate(units) {
            if let Some(number) = self.number(units) {
                return Some(Numeral { start, end: self.at, number });
            }
        }
        None
    }

    /// Go on to the next unit that a numeral may begin with.
    fn candidate(&mut self, units: &[u16]) -> Option<usize> {
        while self.at < units.len() {
            if self.at >= self.end {
                stop::look();
                self.end = units.len().min(self.at + PART);
                // A Chinese numeral may begin with the last unit of the part.
                if !may_have_numerals(&units[self.at..units.len().min(self.end + 1)]) {
                    self.at = self.end;
                    continue;
                }
            }
            if let Some(place) = units[self.at..self.end].iter().position(|&unit| may_begin(unit)) {
                self.at += place;
                return Some(self.at);
            }
            self.at = self.end;
        }
        None
    }

    /// Go on by what begins here; return its number if it is a numeral.
    fn number(&mut self, units: &[u16]) -> Option<Number> {
        if digit_at(units, self.at).is_some() {
            self.at = read(units, self.at, &mut self.digits);
            return Some(Number::of(&self.digits));
        }
        let run = chinese_run(&units[self.at..]);
        self.at += run.len().max(1);
        (LEAST..=MOST).contains(&run.len()).then(|| Number::of(chinese_value(run).to_string().as_bytes()))
    }
}

/// Read the digits of the numeral that begins there, with its groups of thousands; return its end.
fn read(units: &[u16], start: usize, digits: &mut Vec<u8>) -> usize {
    let mut end = start;
    digits.clear();
    while let Some((digit, next)) = digit_at(units, end) {
        stop::look_at(digits.len());
        digits.push(digit);
        end = next;
    }
    if digits.len() > GROUP {
        return end;
    }
    let separator = units.get(end).copied().filter(|unit| SEPARATORS.contains(unit));
    while separator.is_some() && units.get(end).copied() == separator {
        let Some((group, next)) = group_at(units, end + 1) else { break };
        stop::look_at(digits.len());
        digits.extend_from_slice(&group);
        end = next;
    }
    end
}

/// The three digits that stand there, and their end, if no other follows.
fn group_at(units: &[u16], start: usize) -> Option<([u8; GROUP], usize)> {
    let (mut group, mut end) = ([0; GROUP], start);
    for digit in &mut group {
        (*digit, end) = digit_at(units, end)?;
    }
    digit_at(units, end).is_none().then_some((group, end))
}

/// The digit that begins there, in ASCII, and its end.
#[inline]
fn digit_at(units: &[u16], start: usize) -> Option<(u8, usize)> {
    let unit = *units.get(start)?;
    let (point, end) = match units.get(start + 1) {
        Some(low) if is_high(unit) => (0x1_0000 + (u32::from(unit & 0x3FF) << 10 | u32::from(low & 0x3FF)), start + 2),
        _ => (unit.into(), start + 1),
    };
    digits::value(point).map(|value| (b'0' + value, end))
}

fn is_high(unit: u16) -> bool {
    (0xD800..0xDC00).contains(&unit)
}

/// The Chinese numerals that the units begin with.
fn chinese_run(units: &[u16]) -> &[u16] {
    let other = units.iter().enumerate().position(|(place, &unit)| {
        stop::look_at(place);
        !is_chinese(unit)
    });
    &units[..other.unwrap_or(units.len())]
}

/// Whether a unit is a Chinese numeral; without a branch.
#[inline(always)]
fn is_chinese(unit: u16) -> bool {
    CHINESE.iter().fold(false, |found, &(each, _)| found | (unit == each))
}

fn chinese_value(numeral: &[u16]) -> u128 {
    let (mut high, mut low, mut section, mut digit) = (0, 0, 0, 0);
    let meanings = numeral.iter().filter_map(|unit| CHINESE.iter().find(|(each, _)| each == unit));
    for &(_, meaning) in meanings {
        match meaning {
            Meaning::Digit(value) => digit = 10 * digit + value,
            Meaning::Unit(unit) => {
                section += digit.max(1) * unit;
                digit = 0;
            }
            Meaning::Low => {
                low += (section + digit).max(1) * 10_000;
                (section, digit) = (0, 0);
            }
            Meaning::High => {
                high += (low + section + digit).max(1) * 100_000_000;
                (low, section, digit) = (0, 0, 0);
            }
        }
    }
    high + low + section + digit
}

/// The ranges of digits beyond ASCII, and of the first halves of pairs: first and last of each.
const OTHERS: [(u16, u16); 4] = [(0x660, 0x1C59), (0xA620, 0xABF9), (0xD800, 0xDBFF), (0xFF10, 0xFF19)];

for_each_cpu! {
    /// Whether numerals may begin with these units but the last: not if there is no digit, nor two Chinese numerals.
    fn may_have_numerals(units: &[u16]) -> bool {
        if has_any(units, |unit| unit.wrapping_sub(0x30) < 10) {
            return true;
        }
        if units.iter().fold(0, |most, &unit| unit.max(most)) < OTHERS[0].0 {
            return false;
        }
        if has_any(units, is_other) && has_any(units, may_begin) {
            return true;
        }
        let mut are_chinese = [0; PART + 1];
        for (is, &unit) in are_chinese.iter_mut().zip(units) {
            *is = u16::from(is_chinese(unit));
        }
        are_chinese.iter().zip(&are_chinese[1..]).fold(0, |found, (a, b)| found | (a & b)) > 0
    }
}

#[inline(always)]
fn has_any(units: &[u16], is: impl Fn(u16) -> bool) -> bool {
    units.iter().fold(false, |found, &unit| found | is(unit))
}

#[inline(always)]
fn is_other(unit: u16) -> bool {
    OTHERS.iter().fold(false, |found, &(first, last)| found | (unit.wrapping_sub(first) <= last - first))
}

/// Whether a unit is a Chinese numeral or a digit, or the first one of a pair that may be a digit; without a branch.
#[inline(always)]
fn may_begin(unit: u16) -> bool {
    FIRSTS[usize::from(unit >> 6)] >> (unit & 63) & 1 == 1
}

/// A bit for each unit.
static FIRSTS: [u64; 1 << 10] = {
    let mut bits = [0; 1 << 10];
    let mut i = 0;
    while i < 10 * digits::UNITS.len() {
        add(&mut bits, digits::UNITS[i / 10] + i as u16 % 10);
        i += 1;
    }
    i = 0;
    while i < digits::PAIRS.len() {
        add(&mut bits, 0xD800 + ((digits::PAIRS[i] - 0x1_0000) >> 10) as u16);
        i += 1;
    }
    i = 0;
    while i < CHINESE.len() {
        add(&mut bits, CHINESE[i].0);
        i += 1;
    }
    bits
};

const fn add(bits: &mut [u64; 1 << 10], unit: u16) {
    bits[unit as usize >> 6] |= 1 << (unit & 63);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str) -> (String, Vec<String>) {
        let mut units: Vec<u16> = text.encode_utf16().collect();
        let found = numbers_of(&units);
        let numbers = mask(&mut units);
        assert_eq!(found, numbers, "{text}");
        let strings = numbers.iter().map(|number| String::from_utf8(number.digits().to_vec()).unwrap());
        (String::from_utf16(&units).unwrap(), strings.collect())
    }

    fn assert_read(text: &str, masked: &str, numbers: &[&str]) {
        let (found, strings) = read_text(text);
        assert_eq!(
            (found.as_str(), strings.iter().map(String::as_str).collect::<Vec<_>>().as_slice()),
            (masked, numbers)
        );
    }

    #[test]
    fn numerals_are_digits_of_any_script_and_groups_of_thousands() {
        assert_read("", "", &[]);
        assert_read("none", "none", &[]);
        assert_read("123", "0", &["123"]);
        assert_read("007 000 é", "0 0 é", &["0", "7"]);
        assert_read("12,500 2024,123 3.14", "0 0,0 0.0", &["3", "14", "123", "2024", "12500"]);
        assert_read("1'234,567 1,000,2000", "0,0 0,0", &["567", "1000", "1234", "2000"]);
        assert_read("12, 12,5 12’500’", "0, 0,0 0’", &["5", "12", "12500"]);
        assert_read("٣٤ 𝟚𝟛,𝟜𝟝𝟞 😀", "0 0 😀", &["34", "23456"]);
    }

    #[test]
    fn numerals_are_chinese_ones_of_two_characters_or_more() {
        assert_read("三万五千和十二和二〇二四年", "0和0和0年", &["12", "2024", "35000"]);
        assert_read("一万亿和二亿三万", "0和0", &["200030000", "1000000000000"]);
        assert_read("一个 二十12 3万5千", "一个 00 0万0千", &["3", "5", "12", "20"]);
        assert_read(&"一".repeat(17), &"一".repeat(17), &[]);
        assert_read(&"九".repeat(16), "0", &[&"9".repeat(16)]);
        assert_read(&format!("{}亿", "九".repeat(15)), "0", &[&format!("{}{}", "9".repeat(15), "0".repeat(8))]);
    }

    #[test]
    fn numbers_that_count_up_from_one_are_left_out() {
        assert_read("1 2 3", "0 0 0", &[]);
        assert_read("0 1 2", "0 0 0", &["0", "1", "2"]);
        assert_read("0 1 2 3 5", "0 0 0 0 0", &["0", "5"]);
        assert_read("2 3 4", "0 0 0", &["2", "3", "4"]);
    }

    #[test]
    fn every_digit_may_begin_a_numeral_and_has_its_value() {
        let zeros = digits::UNITS.into_iter().map(u32::from).chain(digits::PAIRS);
        for (zero, value) in zeros.flat_map(|zero| (0..10).map(move |value| (zero, value))) {
            let digit = char::from_u32(zero + value).unwrap();
            let units: Vec<u16> = digit.to_string().encode_utf16().collect();
            assert!(may_begin(units[0]) && (units[0] < 0x80 || is_other(units[0])), "{digit}");
            assert_read(&digit.to_string(), "0", &[&value.to_string()]);
        }
        assert!(CHINESE.iter().all(|&(unit, _)| may_begin(unit)));
    }

    #[test]
    fn numerals_are_found_wherever_parts_are_cut() {
        let most = if cfg!(miri) { 4 } else { 2 * PART };
        for (letter, numeral) in [('a', "12,500"), ('字', "三万五千"), ('ع', "٣٤"), ('😀', "𝟚𝟛")] {
            for count in (0..most).chain(PART - 2..PART + 2) {
                let letters = letter.to_string().repeat(count);
                let (masked, numbers) = read_text(&format!("{letters} {numeral} {letters} 7"));
                assert_eq!(masked, format!("{letters} 0 {letters} 0"));
                assert_eq!(numbers.len(), 2);
            }
        }
    }
}
