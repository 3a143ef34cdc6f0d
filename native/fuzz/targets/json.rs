//! Any bytes as a line of JSON: it is refused, or what is written of it is written again as the same; and as a reply.

#![no_main]

use es_simhash_kernels::json::lines::Line;
use es_simhash_kernels::json::replies::Reply;
use es_simhash_kernels::json::values::members;
use es_simhash_kernels::json::write::push_members;
use es_simhash_kernels::text::Refused;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|json: &[u8]| {
    let _: Result<(), Refused> = check(json);
    for hit in Reply::read(json).into_iter().flat_map(|reply| reply.hits) {
        let _ = hit.text_hit(json, &["title", "body.text"], "own");
    }
});

fn check(json: &[u8]) -> Result<(), Refused> {
    let line = Line::read(json)?;
    let id = line.id(json, None)?.unwrap_or_default();
    for fields in [&["title", "body.text"][..], &[]] {
        let _ = line.text(json, fields, &id);
    }
    let written = line.written(json, &id, line.routing(json)?.as_deref())?;
    let read = members(&written)?; // It may be refused, too: for a long exponent.
    let mut again = vec![b'{'];
    push_members(&written, &read, &mut again)?;
    again.push(b'}');
    assert_eq!(String::from_utf8_lossy(&again), String::from_utf8_lossy(&written));
    Ok(())
}
