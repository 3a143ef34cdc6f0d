//! Values of JSON written as Python writes what it reads from them: `json.dumps(…, ensure_ascii=False)`.

use std::borrow::Cow;

use super::numbers::push_number;
use super::paths::{has_name_twice, inside};
use super::strings::{plain_length, unescaped};
use super::values::{Member, Span, elements_at, members_at};
use crate::stop::{Looks, look_at};
use crate::text::Refused;

/// Append a value; refuse one with an object that has a name twice.
pub fn push_value(json: &[u8], value: &Span, out: &mut Vec<u8>) -> Result<(), Refused> {
    let token = &json[value.clone()];
    match token[0] {
        b'{' => {
            out.push(b'{');
            push_members(json, &members_at(json, value)?, out)?;
            out.push(b'}');
        }
        b'[' => {
            out.push(b'[');
            for (place, element) in elements_at(json, value)?.iter().enumerate() {
                look_at(place);
                separate(place, out);
                push_value(json, element, out)?;
            }
            out.push(b']');
        }
        b'"' => push_inner(inside(json, value), out)?,
        b't' | b'f' | b'n' => out.extend_from_slice(token),
        _ => push_number(token, out)?,
    }
    Ok(())
}

/// Append members, without the braces around them.
pub fn push_members(json: &[u8], members: &[Member], out: &mut Vec<u8>) -> Result<(), Refused> {
    if has_name_twice(json, members)? {
        return Err(Refused);
    }
    for (place, member) in members.iter().enumerate() {
        look_at(place);
        separate(place, out);
        push_inner(&json[member.name.clone()], out)?;
        out.extend_from_slice(b": ");
        push_value(json, &member.value, out)?;
    }
    Ok(())
}

/// Append a string with its quotes.
pub fn push_string(text: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    let (mut at, mut looks) = (0, Looks::after(0));
    loop {
        let plain = plain_length(&text[at..]);
        out.extend_from_slice(&text[at..at + plain]);
        at += plain;
        let Some(&byte) = text.get(at) else { break };
        push_escaped(byte, out);
        at += 1;
        looks.at(at);
    }
    out.push(b'"');
}

fn push_escaped(byte: u8, out: &mut Vec<u8>) {
    let short = match byte {
        b'"' | b'\\' => byte,
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        0x08 => b'b',
        0x0C => b'f',
        _ => return out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
    };
    out.extend_from_slice(&[b'\\', short]);
}

fn push_inner(inner: &[u8], out: &mut Vec<u8>) -> Result<(), Refused> {
    match unescaped(inner)? {
        // Without escapes, there is nothing to escape.
        Cow::Borrowed(text) => {
            out.push(b'"');
            out.extend_from_slice(text);
            out.push(b'"');
        }
        Cow::Owned(text) => push_string(&text, out),
    }
    Ok(())
}

fn separate(place: usize, out: &mut Vec<u8>) {
    if place > 0 {
        out.extend_from_slice(b", ");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(json: &str) -> Result<String, Refused> {
        let mut out = Vec::new();
        push_value(json.as_bytes(), &(0..json.len()), &mut out)?;
        Ok(String::from_utf8(out).unwrap())
    }

    #[test]
    fn values_are_written_with_the_spaces_and_escapes_of_python() {
        let json = r#"{"a":[1,-0 , 1e2,"\u00e9\/\u0001\n",[],{}],"\u0062" : {"c":null,"d":true}}"#;
        assert_eq!(
            written(json).unwrap(),
            "{\"a\": [1, 0, 100.0, \"é/\\u0001\\n\", [], {}], \"b\": {\"c\": null, \"d\": true}}"
        );
    }

    #[test]
    fn an_object_with_a_name_twice_is_refused_however_it_is_written() {
        assert_eq!(written(r#"[{"a": 1, "\u0061": 2}]"#), Err(Refused));
        let many = |last: usize| (0..=20).chain([last]).map(|i| format!("\"{i}\": 1")).collect::<Vec<_>>().join(", ");
        assert_eq!(written(&format!("{{{}}}", many(3))), Err(Refused));
        let whole = format!("{{{}}}", many(21));
        assert_eq!(written(&whole), Ok(whole));
    }
}
