//! Any bytes as a line of JSON: it is refused, or what is written of it is written again as the same.

#![no_main]

use es_simhash_kernels::json::lines::Line;
use es_simhash_kernels::json::values::members;
use es_simhash_kernels::json::write::push_members;
use es_simhash_kernels::text::Refused;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|json: &[u8]| {
    let _: Result<(), Refused> = check(json);
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
