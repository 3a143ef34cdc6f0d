//! Values of JSON: where they end, and what objects and arrays hold.

use std::ops::Range;

use super::numbers::end_of_number;
use super::strings::end_of_string;
use crate::stop;
use crate::text::Refused;

/// Deeper nesting is left to Python, whose bound depends on how deep its own calls are.
const DEEPEST: usize = 50;

/// Where a value lies in its text.
pub type Span = Range<usize>;

/// A member of an object: its name without the quotes, and its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    pub name: Span,
    pub value: Span,
}

/// Return the members of the object that is the whole text, in their order, those with equal names too.
pub fn members(json: &[u8]) -> Result<Vec<Member>, Refused> {
    let mut found = Vec::with_capacity(8);
    let end = for_each_member(json, 0, DEEPEST, &mut |member| found.push(member))?;
    if end == json.len() { Ok(found) } else { Err(Refused) }
}

/// Return the members of an object within a text.
pub fn members_at(json: &[u8], object: &Span) -> Result<Vec<Member>, Refused> {
    let mut found = Vec::new();
    for_each_member(json, object.start, DEEPEST, &mut |member| found.push(member))?;
    Ok(found)
}

/// Return the elements of an array within a text.
pub fn elements_at(json: &[u8], array: &Span) -> Result<Vec<Span>, Refused> {
    let mut found = Vec::new();
    for_each_element(json, array.start, DEEPEST, &mut |element| found.push(element))?;
    Ok(found)
}

fn end_of_value(json: &[u8], start: usize, depth: usize) -> Result<usize, Refused> {
    match json.get(start) {
        Some(b'"') => end_of_string(json, start),
        Some(b'-' | b'0'..=b'9') => end_of_number(json, start),
        Some(b'{') => for_each_member(json, start, depth, &mut |_| {}),
        Some(b'[') => for_each_element(json, start, depth, &mut |_| {}),
        Some(b't') => end_of_literal(json, start, b"true"),
        Some(b'f') => end_of_literal(json, start, b"false"),
        Some(b'n') => end_of_literal(json, start, b"null"),
        _ => Err(Refused),
    }
}

fn end_of_literal(json: &[u8], start: usize, literal: &[u8]) -> Result<usize, Refused> {
    if json[start..].starts_with(literal) { Ok(start + literal.len()) } else { Err(Refused) }
}

/// Visit the members of the object that begins at `start`; return where it ends.
fn for_each_member(json: &[u8], start: usize, depth: usize, visit: &mut impl FnMut(Member)) -> Result<usize, Refused> {
    let inner = depth.checked_sub(1).ok_or(Refused)?;
    read_members(json, start, &mut |name, value| {
        let end = end_of_value(json, value, inner)?;
        visit(Member { name, value: value..end });
        Ok(end)
    })
}

/// Visit the elements of the array that begins at `start`; return where it ends.
fn for_each_element(json: &[u8], start: usize, depth: usize, visit: &mut impl FnMut(Span)) -> Result<usize, Refused> {
    let inner = depth.checked_sub(1).ok_or(Refused)?;
    read_elements(json, start, &mut |value| {
        let end = end_of_value(json, value, inner)?;
        visit(value..end);
        Ok(end)
    })
}

/// Read an object by a reader of its values: given a name and the place of the value, it returns where that ends.
#[inline(always)]
pub(super) fn read_members(
    json: &[u8],
    start: usize,
    read: &mut impl FnMut(Span, usize) -> Result<usize, Refused>,
) -> Result<usize, Refused> {
    let mut at = behind(json, start, b'{')?;
    if json.get(at) == Some(&b'}') {
        return Ok(at + 1);
    }
    let mut looks = stop::Looks::after(at);
    loop {
        if json.get(at) != Some(&b'"') {
            return Err(Refused);
        }
        let name = at + 1..end_of_string(json, at)? - 1;
        let value = behind(json, behind_space(json, name.end + 1), b':')?;
        at = behind_space(json, read(name, value)?);
        looks.at(at);
        match json.get(at) {
            Some(b',') => at = behind_space(json, at + 1),
            Some(b'}') => return Ok(at + 1),
            _ => return Err(Refused),
        }
    }
}

/// Read an array by a reader of its elements, likewise.
#[inline(always)]
pub(super) fn read_elements(
    json: &[u8],
    start: usize,
    read: &mut impl FnMut(usize) -> Result<usize, Refused>,
) -> Result<usize, Refused> {
    let mut at = behind(json, start, b'[')?;
    if json.get(at) == Some(&b']') {
        return Ok(at + 1);
    }
    let mut looks = stop::Looks::after(at);
    loop {
        at = behind_space(json, read(at)?);
        looks.at(at);
        match json.get(at) {
            Some(b',') => at = behind_space(json, at + 1),
            Some(b']') => return Ok(at + 1),
            _ => return Err(Refused),
        }
    }
}

/// Return the member whose value begins at a place.
pub(super) fn member_at(json: &[u8], name: Span, value: usize) -> Result<Member, Refused> {
    let end = end_of_value(json, value, DEEPEST)?;
    Ok(Member { name, value: value..end })
}

/// Return the place behind the byte that must be here, and behind the space that follows it.
#[inline(always)]
fn behind(json: &[u8], at: usize, byte: u8) -> Result<usize, Refused> {
    if json.get(at) == Some(&byte) { Ok(behind_space(json, at + 1)) } else { Err(Refused) }
}

#[inline(always)]
fn behind_space(json: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\t' | b'\n' | b'\r') = json.get(at) {
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_found_with_any_space_between() {
        let json = b"{ \"a\" : 1 ,\t\"b\":{\"c\":[1, 2 ,[ ]]} , \"\":{ }}";
        let found = members(json).unwrap();
        let texts: Vec<_> = found.iter().map(|m| (&json[m.name.clone()], &json[m.value.clone()])).collect();
        assert_eq!(texts, [(&b"a"[..], &b"1"[..]), (b"b", b"{\"c\":[1, 2 ,[ ]]}"), (b"", b"{ }")]);
        assert_eq!(elements_at(b"[1, [2], {}]", &(0..12)), Ok(vec![1..2, 4..7, 9..11]));
    }

    #[test]
    fn what_is_no_whole_object_is_refused() {
        for bad in [
            "",
            "{",
            "[]",
            "1",
            "{} ",
            "{}{}",
            "{,}",
            "{\"a\"}",
            "{\"a\":}",
            "{\"a\":1,}",
            "{\"a\":1 \"b\":2}",
            "{a:1}",
            "{\"a\":NaN}",
            "{\"a\":-Infinity}",
            "{\"a\":tru}",
            "{\"a\":[1,]}",
            "{\"a\":[1}",
            "{\"a\":1\x0b}",
            "\u{feff}{}",
        ] {
            assert_eq!(members(bad.as_bytes()), Err(Refused), "{bad}");
        }
    }

    #[test]
    fn deep_nesting_is_left_to_python() {
        let nested = |depth| format!("{{\"a\":{}{}}}", "[".repeat(depth), "]".repeat(depth));
        assert!(members(nested(DEEPEST - 1).as_bytes()).is_ok());
        assert_eq!(members(nested(DEEPEST).as_bytes()), Err(Refused));
    }
}
