//! Values at dotted paths (defined in `es_simhash._core.json_paths`), and the texts made of them.

use std::borrow::Cow;
use std::collections::HashSet;

use super::numbers::push_number;
use super::strings::unescaped;
use super::values::{Member, Span, elements_at, members_at};
use crate::stop::look_at;
use crate::text::Refused;

/// Up to so many names are compared with each other; more are hashed.
const FEW: usize = 16;

/// Return the value of the member with a name: of the last one, as in Python's dictionaries.
pub fn find(json: &[u8], members: &[Member], name: &[u8]) -> Result<Option<Span>, Refused> {
    for (place, member) in members.iter().rev().enumerate() {
        look_at(place);
        if unescaped(&json[member.name.clone()])?.as_ref() == name {
            return Ok(Some(member.value.clone()));
        }
    }
    Ok(None)
}

/// Return what `value_at` returns, but nothing for null either.
pub fn value_at(json: &[u8], members: &[Member], path: &str) -> Result<Option<Span>, Refused> {
    let mut found = find(json, members, path.as_bytes())?;
    if found.is_none() && path.contains('.') {
        found = walk(json, members, path)?;
    }
    Ok(found.filter(|value| json[value.start] != b'n'))
}

fn walk(json: &[u8], members: &[Member], path: &str) -> Result<Option<Span>, Refused> {
    let (first, rest) = path.split_once('.').unwrap_or((path, ""));
    let mut found = find(json, members, first.as_bytes())?;
    for name in rest.split('.') {
        let Some(object) = found.filter(|value| json[value.start] == b'{') else { return Ok(None) };
        found = find(json, &members_at(json, &object)?, name.as_bytes())?;
    }
    Ok(found)
}

/// Return the text that `text_of` makes of an object; refuse one that it cannot make a text of.
pub fn text_of<'a>(json: &'a [u8], members: &[Member], paths: &[&str]) -> Result<Cow<'a, [u8]>, Refused> {
    let mut pieces = Pieces { json, text: None };
    for path in paths {
        pieces.add_in_object(members, path)?;
    }
    Ok(pieces.text.unwrap_or_default())
}

/// Return the text of all strings at the top of an object, but for those that are its id.
pub fn text_of_all<'a>(json: &'a [u8], members: &[Member], id: &[u8]) -> Result<Cow<'a, [u8]>, Refused> {
    let mut pieces = Pieces { json, text: None };
    // The last value of a name counts, in the place of its first.
    if has_name_twice(json, members)? {
        return Err(Refused);
    }
    for (place, member) in members.iter().enumerate() {
        look_at(place);
        // A name with dots is a path to other values, too.
        if unescaped(&json[member.name.clone()])?.contains(&b'.') {
            return Err(Refused);
        }
        if json[member.value.start] == b'"' {
            let text = unescaped(inside(json, &member.value))?;
            if text.as_ref() != id {
                pieces.push(text);
            }
        }
    }
    Ok(pieces.text.unwrap_or_default())
}

/// Return whether two members have the same name, however it is written.
pub fn has_name_twice(json: &[u8], members: &[Member]) -> Result<bool, Refused> {
    let names = members.iter().map(|member| unescaped(&json[member.name.clone()]));
    let names: Vec<Cow<'_, [u8]>> = names.collect::<Result<_, _>>()?;
    if names.len() > FEW {
        let mut known = HashSet::with_capacity(names.len());
        let is_new = |(place, name)| {
            look_at(place);
            known.insert(name)
        };
        return Ok(!names.iter().enumerate().all(is_new));
    }
    Ok(names.iter().enumerate().any(|(place, name)| names[..place].contains(name)))
}

/// A string without its quotes.
pub fn inside<'a>(json: &'a [u8], string: &Span) -> &'a [u8] {
    &json[string.start + 1..string.end - 1]
}

/// The strings of a text, joined by line feeds as they are found.
struct Pieces<'a> {
    json: &'a [u8],
    text: Option<Cow<'a, [u8]>>,
}

impl<'a> Pieces<'a> {
    fn add_in_object(&mut self, members: &[Member], path: &str) -> Result<(), Refused> {
        let ends = path.match_indices('.').map(|(dot, _)| dot);
        for end in ends.chain([path.len()]) {
            if let Some(value) = find(self.json, members, &path.as_bytes()[..end])? {
                self.add(&value, path.get(end + 1..).unwrap_or(""))?;
            }
        }
        Ok(())
    }

    fn add(&mut self, value: &Span, path: &str) -> Result<(), Refused> {
        match self.json[value.start] {
            b'[' => elements_at(self.json, value)?.iter().try_for_each(|element| self.add(element, path)),
            b'{' if path.is_empty() => Err(Refused),
            b'{' => self.add_in_object(&members_at(self.json, value)?, path),
            _ if path.is_empty() => self.add_scalar(value),
            _ => Ok(()),
        }
    }

    fn add_scalar(&mut self, value: &Span) -> Result<(), Refused> {
        let token = &self.json[value.clone()];
        match token[0] {
            b'n' => {}
            b'"' => self.push(unescaped(inside(self.json, value))?),
            b't' | b'f' => self.push(Cow::Borrowed(token)),
            _ => {
                let mut number = Vec::new();
                push_number(token, &mut number)?;
                self.push(Cow::Owned(number));
            }
        }
        Ok(())
    }

    fn push(&mut self, piece: Cow<'a, [u8]>) {
        match &mut self.text {
            None => self.text = Some(piece),
            Some(text) => {
                let text = text.to_mut();
                text.push(b'\n');
                text.extend_from_slice(&piece);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::values::members;
    use super::*;

    fn text(json: &str, paths: &[&str]) -> Result<String, Refused> {
        let members = members(json.as_bytes())?;
        Ok(String::from_utf8(text_of(json.as_bytes(), &members, paths)?.into_owned()).unwrap())
    }

    #[test]
    fn a_text_is_made_of_all_values_at_its_paths() {
        let json = r#"{"a": {"b": "1", "b.c": "2"}, "a.b": ["3", ["4"], null], "d": [{"e": true}, {"e": 5.0}, "x"], "a.b.c": 6}"#;
        assert_eq!(text(json, &["a.b"]).unwrap(), "1\n3\n4");
        assert_eq!(text(json, &["a.b.c", "d.e"]).unwrap(), "2\n6\ntrue\n5.0");
        assert_eq!(text(json, &["f", "b"]).unwrap(), "");
        assert_eq!(text(json, &["a"]), Err(Refused));
        assert_eq!(text(r#"{"a": "1", "\u0061": "2"}"#, &["a"]).unwrap(), "2");
        assert_eq!(text(r#"{"a": "", "b": ""}"#, &["a", "b"]).unwrap(), "\n");
    }

    #[test]
    fn the_value_of_a_whole_name_goes_before_that_at_a_path() {
        let value = |json: &str, path: &str| {
            let members = members(json.as_bytes()).unwrap();
            value_at(json.as_bytes(), &members, path).unwrap().map(|span| json[span].to_owned())
        };
        assert_eq!(value(r#"{"a": {"b": 1}, "a.b": 2}"#, "a.b").unwrap(), "2");
        assert_eq!(value(r#"{"a": {"b": {"c": 1}}}"#, "a.b.c").unwrap(), "1");
        assert_eq!(value(r#"{"a": {"b": 1}}"#, "a.b.c"), None);
        assert_eq!(value(r#"{"a": {"b": {}}}"#, "a.b").unwrap(), "{}");
        assert_eq!(value(r#"{"a": null}"#, "a"), None);
    }
}
