//! poly64, the default hash of a token (defined in `es_simhash.text.hashing`).

pub const BASE: u64 = 0x9E37_79B9_7F4A_7C15;
pub const SECOND: u64 = 0x6A09_E667_F3BC_C909;
/// Mask k keeps the first k units of a word.
const FIRST_UNITS: [u64; 5] = [0, 0xFFFF, 0xFFFF_FFFF, 0xFFFF_FFFF_FFFF, u64::MAX];
/// Units of a token that are read without a branch: most tokens have no more.
const UNBRANCHED: usize = 12;
const ONE_OR_BASE: [u64; 2] = [1, BASE];
const FACTORS: [u64; 2] = [0xFF51_AFD7_ED55_8CCD, 0xC4CE_B9FE_1A85_EC53];

/// The finaliser of MurmurHash3, a bijection.
#[inline(always)]
pub fn fmix64(mut x: u64) -> u64 {
    x = (x ^ (x >> 33)).wrapping_mul(FACTORS[0]);
    x = (x ^ (x >> 33)).wrapping_mul(FACTORS[1]);
    x ^ (x >> 33)
}

/// The polynomial of a token of UTF-16 units.
#[inline(always)]
pub fn polynomial(token: &[u16]) -> u64 {
    let mut p = token.len() as u64;
    for word in token.chunks(4) {
        p = p.wrapping_mul(BASE).wrapping_add(word_of(word));
    }
    p
}

/// The same of the units from `start` up to `end`; it reads past their end, to do without branches for short tokens.
#[inline(always)]
pub fn polynomial_at(units: &[u16], start: usize, end: usize) -> u64 {
    let length = end - start;
    let mut p = length as u64;
    let mut done = 0;
    while done < UNBRANCHED {
        let left = length.saturating_sub(done);
        let word = word_at(units, start + done) & FIRST_UNITS[left.min(4)];
        p = p.wrapping_mul(ONE_OR_BASE[usize::from(left > 0)]).wrapping_add(word);
        done += 4;
    }
    while done < length {
        let word = word_at(units, start + done) & FIRST_UNITS[(length - done).min(4)];
        p = p.wrapping_mul(BASE).wrapping_add(word);
        done += 4;
    }
    p
}

/// The units that begin at `start`, as far as there are four.
#[inline(always)]
pub fn word_at(units: &[u16], start: usize) -> u64 {
    let rest = units.get(start..).unwrap_or_default();
    rest.first_chunk::<4>().map_or_else(|| word_of(rest), |&units| four(units))
}

/// Up to four units as a number, the first one lowest.
#[inline(always)]
fn word_of(units: &[u16]) -> u64 {
    if let Ok(units) = <[u16; 4]>::try_from(units) {
        return four(units);
    }
    units.iter().rev().fold(0, |word, &unit| word << 16 | u64::from(unit))
}

#[inline(always)]
pub fn four(units: [u16; 4]) -> u64 {
    u64::from(units[0]) | u64::from(units[1]) << 16 | u64::from(units[2]) << 32 | u64::from(units[3]) << 48
}
