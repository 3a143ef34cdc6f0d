//! One document of a file of JSON lines: its id, its routing and its text, as `es_simhash.documents.files.data_file` and
//! `es_simhash.documents.sources` find them, and the line that is written of it.

use std::borrow::Cow;

use super::numbers::push_number;
use super::paths::{find, inside, text_of, text_of_all, value_at};
use super::strings::unescaped;
use super::values::{Member, Span, members, members_at};
use super::write::{push_members, push_string};
use crate::text::Refused;

/// What names a document, and is no field of it.
const METADATA: [&[u8]; 2] = [b"_id", b"_routing"];

/// Where the parts of a document lie in its line, which every method is given again.
pub struct Line {
    record: Vec<Member>,
    /// The members of the document, if they are not all of the record.
    document: Option<Vec<Member>>,
    is_wrapped: bool,
}

impl Line {
    /// Read a line without space around it.
    ///
    /// An object of one member is refused: it may be the action of a bulk request.
    pub fn read(json: &[u8]) -> Result<Self, Refused> {
        str::from_utf8(json).map_err(|_| Refused)?;
        let record = members(json)?;
        if record.len() < 2 {
            return Err(Refused);
        }
        if let Some(source) = find(json, &record, b"_source")? {
            let document = members_at(json, &source)?;
            return match without_metadata(json, &document)? {
                Some(_) => Err(Refused),
                None => Ok(Self { record, document: Some(document), is_wrapped: true }),
            };
        }
        let document = without_metadata(json, &record)?;
        Ok(Self { record, document, is_wrapped: false })
    }

    /// The members of the whole object.
    pub fn record(&self) -> &[Member] {
        &self.record
    }

    /// The members of the document, without what names it.
    pub fn document(&self) -> &[Member] {
        self.document.as_ref().unwrap_or(&self.record)
    }

    /// Return the id in a field, or in `_id` or `id` if none is given; nothing if there is neither of these two.
    pub fn id<'a>(&self, json: &'a [u8], field: Option<&str>) -> Result<Option<Cow<'a, [u8]>>, Refused> {
        let document = if self.is_wrapped { self.document() } else { &self.record };
        if field.is_none() && value_at(json, &self.record, "_id")?.is_none() {
            return find(json, document, b"id")?.map_or(Ok(None), |value| as_id(json, &value));
        }
        let field = field.filter(|field| !field.is_empty()).unwrap_or("_id");
        let value = match value_at(json, document, field)? {
            None => value_at(json, &self.record, field)?,
            found => found,
        };
        as_id(json, &value.ok_or(Refused)?)?.map(Some).ok_or(Refused)
    }

    /// Return the routing, if there is one.
    pub fn routing<'a>(&self, json: &'a [u8]) -> Result<Option<Cow<'a, [u8]>>, Refused> {
        match value_at(json, &self.record, "_routing")? {
            None => Ok(None),
            Some(value) => as_id(json, &value)?.map(Some).ok_or(Refused),
        }
    }

    /// Return the text in fields, or without any that of all strings at the top of the document but for its id.
    pub fn text<'a>(&self, json: &'a [u8], fields: &[&str], id: &[u8]) -> Result<Cow<'a, [u8]>, Refused> {
        if fields.is_empty() { text_of_all(json, self.document(), id) } else { text_of(json, self.document(), fields) }
    }

    /// Write the document as a line with its routing, and with its `_id` where it does not hold its id itself.
    pub fn written(&self, json: &[u8], id: &[u8], routing: Option<&[u8]>) -> Result<Vec<u8>, Refused> {
        let mut line = Vec::with_capacity(json.len() + id.len() + 16);
        line.push(b'{');
        let own = if self.has_value(json, id)? { None } else { Some(id) };
        for (name, value) in [("_routing", routing), ("_id", own)] {
            if let Some(value) = value {
                push_string(name.as_bytes(), &mut line);
                line.extend_from_slice(b": ");
                push_string(value, &mut line);
                line.extend_from_slice(b", ");
            }
        }
        push_members(json, self.document(), &mut line)?;
        if self.document().is_empty() && line.len() > 1 {
            line.truncate(line.len() - 2);
        }
        line.push(b'}');
        Ok(line)
    }

    /// Return whether one of the values is what Python's `str` would make this id of.
    fn has_value(&self, json: &[u8], id: &[u8]) -> Result<bool, Refused> {
        for Member { value, .. } in self.document() {
            let first = json[value.start];
            let is_same = match first {
                b'{' | b'[' if id.first() == Some(&first) => return Err(Refused),
                b'{' | b'[' => false,
                b't' => id == b"True",
                b'f' => id == b"False",
                b'n' => id == b"None",
                _ => scalar(json, value)?.as_ref() == id,
            };
            if is_same {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Return the members that are no metadata; nothing if all of them are none.
fn without_metadata(json: &[u8], members: &[Member]) -> Result<Option<Vec<Member>>, Refused> {
    let mut kept = Vec::new();
    let mut some = false;
    for (place, member) in members.iter().enumerate() {
        let is_metadata = METADATA.contains(&unescaped(&json[member.name.clone()])?.as_ref());
        if is_metadata && !some {
            kept.extend_from_slice(&members[..place]);
            some = true;
        } else if some && !is_metadata {
            kept.push(member.clone());
        }
    }
    Ok(some.then_some(kept))
}

/// Return a string that is not empty, or a whole number, as an id; other numbers are refused.
fn as_id<'a>(json: &'a [u8], value: &Span) -> Result<Option<Cow<'a, [u8]>>, Refused> {
    match json[value.start] {
        b'"' => Ok(Some(scalar(json, value)?).filter(|text| !text.is_empty())),
        b'-' | b'0'..=b'9' if json[value.clone()].iter().any(|byte| b".eE".contains(byte)) => Err(Refused),
        b'-' | b'0'..=b'9' => scalar(json, value).map(Some),
        _ => Ok(None),
    }
}

/// Return a string, or a number as Python writes it.
fn scalar<'a>(json: &'a [u8], value: &Span) -> Result<Cow<'a, [u8]>, Refused> {
    if json[value.start] == b'"' {
        return unescaped(inside(json, value));
    }
    let mut number = Vec::new();
    push_number(&json[value.clone()], &mut number)?;
    Ok(Cow::Owned(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(json: &str, field: Option<&str>) -> Result<Option<String>, Refused> {
        let found = Line::read(json.as_bytes())?;
        Ok(found.id(json.as_bytes(), field)?.map(|id| String::from_utf8(id.into_owned()).unwrap()))
    }

    fn written(json: &str, id: &str, routing: Option<&str>) -> Result<String, Refused> {
        let line = Line::read(json.as_bytes())?.written(json.as_bytes(), id.as_bytes(), routing.map(str::as_bytes))?;
        Ok(String::from_utf8(line).unwrap())
    }

    #[test]
    fn the_id_is_that_of_the_field_or_of_its_usual_names() {
        let line = r#"{"id": 7, "a": {"b": -0}, "_id": null, "c": true, "e": 1.0}"#;
        assert_eq!(id(line, None).unwrap().unwrap(), "7");
        assert_eq!(id(line, Some("a.b")).unwrap().unwrap(), "0");
        assert_eq!(id(line, Some("c")), Err(Refused));
        assert_eq!(id(line, Some("d")), Err(Refused));
        assert_eq!(id(line, Some("e")), Err(Refused));
        assert_eq!(id(r#"{"id": "", "a": 1}"#, None), Ok(None));
        assert_eq!(id(r#"{"id": 1e3, "a": 1}"#, None), Err(Refused));
        let wrapped = r#"{"_id": "x", "_index": "i", "_source": {"id": "y"}}"#;
        assert_eq!(id(wrapped, None).unwrap().unwrap(), "x");
        assert_eq!(id(wrapped, Some("id")).unwrap().unwrap(), "y");
        assert_eq!(id(wrapped, Some("_index")).unwrap().unwrap(), "i");
    }

    #[test]
    fn an_action_and_a_source_that_names_its_document_are_left_to_python() {
        for line in [r#"{"index": {}}"#, "{}", r#"{"_id": 1, "_source": {"_id": 2}}"#, r#"{"_id": 1, "_source": 3}"#] {
            assert!(Line::read(line.as_bytes()).is_err(), "{line}");
        }
    }

    #[test]
    fn a_line_has_the_id_unless_it_holds_it() {
        assert_eq!(written(r#"{"id":1,"a":"x"}"#, "1", None).unwrap(), r#"{"id": 1, "a": "x"}"#);
        assert_eq!(
            written(r#"{"_id":1,"a":"x"}"#, "1", Some("r")).unwrap(),
            r#"{"_routing": "r", "_id": "1", "a": "x"}"#
        );
        assert_eq!(written(r#"{"_id":"\"","_source":{}}"#, "\"", None).unwrap(), r#"{"_id": "\""}"#);
        assert_eq!(written(r#"{"a":null,"b":[]}"#, "None", None).unwrap(), r#"{"a": null, "b": []}"#);
        assert_eq!(written(r#"{"a":1,"b":[]}"#, "[]", None), Err(Refused));
        assert_eq!(written(r#"{"a":1,"a":2}"#, "x", None), Err(Refused));
    }
}
