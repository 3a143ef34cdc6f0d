//! Fingerprints read from the JSON of documents' objects, where they are usual (defined in
//! `es_simhash.scheme.own_fields.read`).

use super::fields::{KeyForm, Layout};
use super::stored::{Rows, Stored};
use crate::json::paths::inside;
use crate::json::values::{Member, Span, members_at};
use crate::text::Refused;

/// The names of a layout's fields; and of those that must have a value, with that value.
pub struct Names<'a> {
    pub fields: Vec<&'a str>,
    pub given: [(&'a str, &'a str); 2],
}

/// Append the fingerprint in an object, and return the hash of the content; None, and nothing appended, unless the
/// object has a whole fingerprint in strings as they are written.
pub fn append<'a>(
    layout: &Layout,
    names: &Names<'_>,
    json: &'a [u8],
    object: &Span,
    keys: &mut Vec<u8>,
    rows: &mut Rows,
) -> Result<Option<&'a [u8]>, Refused> {
    let members = members_at(json, object)?;
    if layout.form() == KeyForm::List || members.iter().any(|member| json[member.name.clone()].contains(&b'\\')) {
        return Ok(None);
    }
    let string = |name: &str| string(json, &members, name);
    if names.given.iter().any(|(name, value)| string(name) != Some(value.as_bytes())) {
        return Ok(None);
    }
    let fields = &names.fields;
    let value = |place: Option<usize>| place.and_then(|place| string(fields[place]));
    let simhash = value(layout.has_simhash().then_some(0));
    let signature = value(layout.signature().and(fields.len().checked_sub(2)));
    keys.clear();
    let blocks = if layout.has_simhash() { 0..0 } else { layout.block_fields() };
    if join(keys, fields[blocks].iter().map(|name| string(name))).is_none() {
        return Ok(None);
    }
    let end = keys.len();
    if join(keys, fields[layout.band_fields()].iter().map(|name| string(name))).is_none() {
        return Ok(None);
    }
    let (blocks, bands) = keys.split_at(end);
    let Some(content) = value(fields.len().checked_sub(1)) else { return Ok(None) };
    let (simhash, signature) = (simhash.unwrap_or_default(), signature.unwrap_or_default());
    Ok(rows.append(layout, &Stored { simhash, blocks, bands, signature }).then_some(content))
}

/// The string of that name, if it is one without escapes, and there is no other value of that name.
fn string<'a>(json: &'a [u8], members: &[Member], name: &str) -> Option<&'a [u8]> {
    let mut named = members.iter().filter(|member| &json[member.name.clone()] == name.as_bytes());
    let (value, None) = (&named.next()?.value, named.next()) else { return None };
    if json[value.start] != b'"' {
        return None;
    }
    Some(inside(json, value)).filter(|inner| !inner.contains(&b'\\'))
}

/// Append keys, with spaces between them; None if one is missing.
fn join<'a>(target: &mut Vec<u8>, keys: impl Iterator<Item = Option<&'a [u8]>>) -> Option<()> {
    for (place, key) in keys.enumerate() {
        if place > 0 {
            target.push(b' ');
        }
        target.extend_from_slice(key?);
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sketches::bands::Bands;

    fn read(form: KeyForm, fields: &[&str], object: &str) -> Option<(String, Vec<u32>)> {
        let bands = Bands { count: 2, rows: 1, key_bits: 6 };
        let layout = Layout::new(None, Some(bands), None, form, false).expect("keys");
        let names = Names { fields: fields.to_vec(), given: [("scheme", "s"), ("status", "ok")] };
        let mut rows = Rows::default();
        let json = object.as_bytes();
        let content = append(&layout, &names, json, &(0..json.len()), &mut Vec::new(), &mut rows).unwrap();
        content.map(|content| (String::from_utf8(content.to_vec()).unwrap(), rows.keyed))
    }

    #[test]
    fn whole_fingerprints_in_plain_strings_are_read() {
        const USUAL: &str = r#"{"bands":"o Q","content":"c","scheme":"s","status":"ok","group":7}"#;
        let text = |object: &str| read(KeyForm::Text, &["bands", "content"], object);
        assert_eq!(text(USUAL), Some(("c".to_owned(), vec![1, 2])));
        for (usual, unusual) in [
            ("o Q", "oQ"),
            ("o Q", "\\u006f Q"),
            ("\"o Q\"", "[\"o\",\"Q\"]"),
            ("\"bands\"", "\"band\""),
            ("\"c\"", "1"),
            ("\"c\"", "\"\\u0063\""),
            ("\"s\"", "\"t\""),
            ("\"s\"", "null"),
            ("\"ok\"", "\"short\""),
            ("\"group\":7", "\"status\":\"ok\""),
            ("\"group\"", "\"\\u0062ands\""),
        ] {
            let changed = USUAL.replacen(usual, unusual, 1);
            assert_ne!(changed, USUAL, "{usual}");
            assert_eq!(text(&changed), None, "{changed}");
        }
    }

    #[test]
    fn keys_may_have_fields_of_their_own_but_lists_are_left_to_others() {
        let fields = ["band0", "band1", "content"];
        let object = r#"{"band1":"Q","band0":"o","content":"c","scheme":"s","status":"ok"}"#;
        assert_eq!(read(KeyForm::Fields, &fields, object), Some(("c".to_owned(), vec![1, 2])));
        assert_eq!(read(KeyForm::Fields, &fields, &object.replace("band1", "band2")), None);
        let list = r#"{"bands":["o","Q"],"content":"c","scheme":"s","status":"ok"}"#;
        assert_eq!(read(KeyForm::List, &["bands", "content"], list), None);
    }
}
