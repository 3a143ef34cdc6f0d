//! Replies to searches: their hits, and those of which nothing is wanted but their text and our object
//! (`es_simhash.plans.operations.TextHit`).

use std::borrow::Cow;
use std::mem::replace;

use super::paths::{find, inside, text_of};
use super::values::{Member, Span, member_at, read_elements, read_members};
use crate::text::Refused;

/// Integers of so many characters fit into 64 bits.
const SHORT: usize = 18;

/// The hits of a reply, and the other members of it and of its object `hits`.
#[derive(Default)]
pub struct Reply {
    pub members: Vec<Member>,
    pub about_hits: Vec<Member>,
    pub hits: Vec<Hit>,
}

/// A hit: its members, and those of its source, if that is an object.
pub struct Hit {
    pub members: Vec<Member>,
    source: Option<Vec<Member>>,
}

/// What names a document, as it stands in the JSON.
pub struct Names<'a> {
    pub index: &'a [u8],
    pub id: &'a [u8],
    pub routing: Option<&'a [u8]>,
}

/// What names a document and its version, as it stands in the JSON, its text, and our object of it.
pub struct TextHit<'a> {
    pub index: &'a [u8],
    pub id: &'a [u8],
    pub routing: Option<&'a [u8]>,
    pub seq_no: i64,
    pub primary_term: i64,
    pub text: Cow<'a, [u8]>,
    /// The object under the prefix.
    pub own: Option<Span>,
}

impl Reply {
    /// Read a reply; refuse what is not certainly the reply to a search.
    pub fn read(json: &[u8]) -> Result<Self, Refused> {
        str::from_utf8(json).map_err(|_| Refused)?;
        let mut reply = Self::default();
        let (mut hits, mut is_again) = (None, false);
        let end = read_members(json, 0, &mut |name, value| {
            if !is_hits(json, &name)? {
                return push(json, name, value, &mut reply.members);
            }
            if replace(&mut is_again, true) {
                return Err(Refused);
            }
            read_members(json, value, &mut |name, value| {
                if !is_hits(json, &name)? {
                    return push(json, name, value, &mut reply.about_hits);
                }
                if hits.is_some() {
                    return Err(Refused);
                }
                read_hits(json, value, hits.insert(Vec::new()))
            })
        })?;
        reply.hits = hits.ok_or(Refused)?;
        if end == json.len() { Ok(reply) } else { Err(Refused) }
    }
}

/// Return whether this is the name `hits`; refuse an escaped name, which may be the same.
fn is_hits(json: &[u8], name: &Span) -> Result<bool, Refused> {
    let name = &json[name.clone()];
    if name.contains(&b'\\') { Err(Refused) } else { Ok(name == b"hits") }
}

fn push(json: &[u8], name: Span, value: usize, members: &mut Vec<Member>) -> Result<usize, Refused> {
    members.push(member_at(json, name, value)?);
    Ok(members[members.len() - 1].value.end)
}

fn read_hits(json: &[u8], start: usize, hits: &mut Vec<Hit>) -> Result<usize, Refused> {
    read_elements(json, start, &mut |start| {
        let mut hit = Hit { members: Vec::with_capacity(8), source: None };
        let end = read_members(json, start, &mut |name, value| {
            if &json[name.clone()] != b"_source" || json.get(value) != Some(&b'{') {
                return push(json, name, value, &mut hit.members);
            }
            let mut source = Vec::with_capacity(4);
            let end = read_members(json, value, &mut |name, value| push(json, name, value, &mut source))?;
            hit.members.push(Member { name, value: value..end });
            hit.source = Some(source);
            Ok(end)
        })?;
        hits.push(hit);
        Ok(end)
    })
}

impl Hit {
    /// Return what names the document; None if the hit is anyhow unusual.
    pub fn names<'a>(&self, json: &'a [u8]) -> Option<Names<'a>> {
        let [mut index, mut id, mut routing, mut source] = [const { None }; 4];
        for Member { name, value } in &self.members {
            let found = match &json[name.clone()] {
                b"_index" => &mut index,
                b"_id" => &mut id,
                b"_routing" => &mut routing,
                b"_source" => &mut source,
                name if name.contains(&b'\\') => return None,
                _ => continue,
            };
            if found.replace(value).is_some() {
                return None;
            }
        }
        let routing = routing.map_or(Some(None), |value| plain(json, value).map(Some))?;
        let is_object = source.is_some() == self.source.is_some();
        is_object.then_some(Names { index: plain(json, index?)?, id: plain(json, id?)?, routing })
    }

    /// Return the value of that name in the source.
    pub fn value(&self, json: &[u8], name: &str) -> Result<Option<Span>, Refused> {
        find(json, self.source.as_deref().unwrap_or_default(), name.as_bytes())
    }

    /// Return the text in fields of the source.
    pub fn text<'a>(&self, json: &'a [u8], fields: &[&str]) -> Result<Cow<'a, [u8]>, Refused> {
        text_of(json, self.source.as_deref().unwrap_or_default(), fields)
    }

    /// Return the hit with the text in fields, and the object under a prefix; None if it is anyhow unusual.
    pub fn text_hit<'a>(&self, json: &'a [u8], fields: &[&str], prefix: &str) -> Option<TextHit<'a>> {
        let source = self.source.as_ref()?;
        let mut own = None;
        for Member { name, value } in source {
            let name = &json[name.clone()];
            match name.strip_prefix(prefix.as_bytes()) {
                Some(b"") if json[value.start] == b'{' && own.is_none() => own = Some(value.clone()),
                Some([] | [b'.', ..]) => return None,
                _ if name.contains(&b'\\') => return None,
                _ => {}
            }
        }
        let [mut index, mut id, mut routing, mut seq_no, mut primary_term, mut sources] = [const { None }; 6];
        for Member { name, value } in &self.members {
            let found = match &json[name.clone()] {
                b"_index" => &mut index,
                b"_id" => &mut id,
                b"_routing" => &mut routing,
                b"_seq_no" => &mut seq_no,
                b"_primary_term" => &mut primary_term,
                b"_source" => &mut sources,
                name if name.contains(&b'\\') => return None,
                _ => continue,
            };
            if found.replace(value).is_some() {
                return None;
            }
        }
        Some(TextHit {
            index: plain(json, index?)?,
            id: plain(json, id?)?,
            routing: routing.map_or(Some(None), |value| plain(json, value).map(Some))?,
            seq_no: integer(json, seq_no?)?,
            primary_term: integer(json, primary_term?)?,
            text: text_of(json, source, fields).ok()?,
            own,
        })
    }
}

/// Return what stands in a string without escapes.
fn plain<'a>(json: &'a [u8], value: &Span) -> Option<&'a [u8]> {
    let inner = if json[value.start] == b'"' { inside(json, value) } else { return None };
    (!inner.contains(&b'\\')).then_some(inner)
}

fn integer(json: &[u8], value: &Span) -> Option<i64> {
    let digits = str::from_utf8(&json[value.clone()]).ok()?;
    if digits.len() > SHORT { None } else { digits.parse().ok() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HIT: &str = r#"{"_index":"i","_id":"1","_seq_no":7,"_primary_term":2,"_source":{"a":"x\ny","b":5}}"#;

    fn reply(hits: &str) -> String {
        format!("{{\"took\":1,\"hits\":{{\"total\":2,\"hits\":[{hits}]}},\"id\":\"p\"}}")
    }

    fn text(hit: &str) -> Option<String> {
        let json = reply(hit);
        let read = Reply::read(json.as_bytes()).unwrap();
        let found = read.hits[0].text_hit(json.as_bytes(), &["a", "b"], "own")?;
        Some(String::from_utf8(found.text.into_owned()).unwrap())
    }

    #[test]
    fn the_hits_of_a_reply_and_the_rest_are_found() {
        let json = reply(&[HIT, HIT].join(" , "));
        let read = Reply::read(json.as_bytes()).unwrap();
        assert_eq!((read.members.len(), read.about_hits.len(), read.hits.len()), (2, 1, 2));
        let hit = read.hits[1].text_hit(json.as_bytes(), &["a", "b"], "own").unwrap();
        assert_eq!((hit.index, hit.id, hit.routing), (&b"i"[..], &b"1"[..], None));
        assert_eq!((hit.seq_no, hit.primary_term, hit.text.as_ref()), (7, 2, &b"x\ny\n5"[..]));
        assert!(Reply::read(reply("").as_bytes()).unwrap().hits.is_empty());
    }

    #[test]
    fn unusual_hits_are_left_whole() {
        assert_eq!(text(HIT).as_deref(), Some("x\ny\n5"));
        assert_eq!(text(&HIT.replace("\"b\"", "\"ownb\"")).as_deref(), Some("x\ny"));
        for (usual, unusual) in [
            ("\"b\"", "\"own\""),
            ("\"b\":5", "\"own\":{},\"own\":{}"),
            ("\"b\"", "\"own.b\""),
            ("\"b\"", "\"\\u006fwn\""),
            ("5", "{}"),
            ("7", "7.5"),
            ("7", "null"),
            ("7", "12345678901234567890"),
            ("\"1\"", "\"\\u0031\""),
            ("\"1\"", "1"),
            ("\"_id\"", "\"_i\\u0064\""),
            ("\"_seq_no\"", "\"_id\""),
            ("\"_seq_no\":7,", ""),
            ("\"_source\":{\"a\":\"x\\ny\",\"b\":5}", "\"_source\":null"),
            ("\"_index\":", "\"_routing\":3,\"_index\":"),
            ("\"_index\":", "\"_source\":{},\"_index\":"),
        ] {
            let changed = HIT.replacen(usual, unusual, 1);
            assert_ne!(changed, HIT, "{usual}");
            assert_eq!(text(&changed), None, "{changed}");
        }
        let json = reply(&HIT.replace("5", "5,\"own\":{\"c\":1}"));
        let read = Reply::read(json.as_bytes()).unwrap();
        let own = read.hits[0].text_hit(json.as_bytes(), &["a"], "own").unwrap().own.unwrap();
        assert_eq!(&json[own], "{\"c\":1}");
        assert!(text(&HIT.replace("{\"_index\"", "{\"_routing\":\"r\",\"_index\"")).is_some());
    }

    #[test]
    fn a_usual_hit_names_its_document() {
        let names = |hit: &str| {
            let json = reply(hit);
            let read = Reply::read(json.as_bytes()).unwrap();
            let found = read.hits[0].names(json.as_bytes())?;
            Some(
                [found.index, found.id, found.routing.unwrap_or(b"-")]
                    .map(|part| str::from_utf8(part).unwrap().to_owned()),
            )
        };
        assert_eq!(names(HIT).unwrap(), ["i", "1", "-"]);
        assert_eq!(names(&HIT.replace("\"_seq_no\":7", "\"_routing\":\"r\"")).unwrap(), ["i", "1", "r"]);
        assert_eq!(names(r#"{"_id":"1","_index":"i"}"#).unwrap(), ["i", "1", "-"]);
        for (usual, unusual) in [
            ("\"1\"", "\"\\u0031\""),
            ("\"1\"", "1"),
            ("\"_id\"", "\"_i\\u0064\""),
            ("\"_seq_no\"", "\"_s\\u0065q_no\""),
            ("\"_seq_no\":7", "\"_id\":\"2\""),
            ("\"_source\":{\"a\":\"x\\ny\",\"b\":5}", "\"_source\":null"),
            ("\"_seq_no\":7", "\"_source\":7"),
            ("\"_seq_no\"", "\"_routing\""),
            ("\"_index\":\"i\",", ""),
        ] {
            let changed = HIT.replacen(usual, unusual, 1);
            assert_ne!(changed, HIT, "{usual}");
            assert_eq!(names(&changed), None, "{changed}");
        }
    }

    #[test]
    fn what_is_not_certainly_the_reply_to_a_search_is_refused() {
        let twice = reply("").replace("\"took\":1", "\"hits\":{\"hits\":[]}");
        for bad in [
            "{\"error\":{\"type\":\"x\"},\"status\":400}",
            "{\"hits\":{}}",
            "{\"hits\":[]}",
            "{\"hits\":{\"hits\":{}}}",
            "{\"hits\":{\"hits\":[1]}}",
            "{\"hits\":{\"hits\":[],\"hits\":[]}}",
            "{\"hits\":{\"id\":0},\"hits\":{\"hits\":[]}}",
            "{\"hits\":{\"hits\":[]},\"h\\u0069ts\":1}",
            "{\"hits\":{\"hits\":[]},\"score\":NaN}",
            "{\"hits\":{\"hits\":[]}} ",
            "{\"hits\":{\"hits\":[{\"_source\":{\"a\":\"\\ud800\"}}]}}",
            &twice,
            "",
        ] {
            assert!(Reply::read(bad.as_bytes()).is_err(), "{bad}");
        }
        assert!(Reply::read(b"{\"hits\":{\"hits\":[{\"_id\":\"\xff\"}]}}").is_err());
    }
}
