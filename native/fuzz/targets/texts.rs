//! Any code points as a text under many settings: it is refused, or has a fingerprint, whose values do not depend on
//! the texts before it.

#![no_main]

use std::cell::RefCell;

use es_simhash_kernels::scheme::condensing::Fingerprints;
use es_simhash_kernels::scheme::features::Document;
use es_simhash_kernels::scheme::fingerprinting::{Scratch, fingerprint};
use es_simhash_kernels::scheme::settings::{MinHash, Settings, Tokens, Weighing};
use es_simhash_kernels::text::Text;
use es_simhash_kernels::text::hashing::{Hash, Width};
use es_simhash_kernels::text::normalise::{Folding, Steps};
use es_simhash_kernels::text::runs::Dense;
use es_simhash_kernels::text::stop_words::StopWords;
use libfuzzer_sys::fuzz_target;

thread_local! {
    static USED: RefCell<(Vec<Settings>, Scratch)> = RefCell::new((all_settings(), Scratch::default()));
}

fuzz_target!(|data: &[u8]| {
    let Some((&choice, rest)) = data.split_first() else { return };
    let points: Vec<u32> =
        rest.chunks(3).map(|bytes| bytes.iter().fold(0, |p, &b| p << 8 | u32::from(b)) % 0x11_0000).collect();
    let is_ascii = rest.is_ascii() && choice % 2 == 0;
    let text = if is_ascii { Text::Ascii(rest) } else { Text::Wide(&points) };
    USED.with_borrow_mut(|(all, used)| {
        let settings = &all[usize::from(choice / 2) % all.len()];
        let (mut first, mut again) = (Fingerprints::default(), Fingerprints::default());
        let made = fingerprint(settings, Document::Text(text), used, &mut first);
        assert_eq!(fingerprint(settings, Document::Text(text), &mut Scratch::default(), &mut again), made);
        if made.is_ok() {
            assert_eq!(
                (first.statuses, first.simhashes, first.signatures),
                (again.statuses, again.simhashes, again.signatures)
            );
        }
    });
});

fn all_settings() -> Vec<Settings> {
    let mut all = Vec::new();
    for i in 0..128 {
        let bit = |place: u32| i >> place & 1 == 1;
        let minhash = [None, Some(("one-permutation", 128)), Some(("k-hash", 100)), Some(("weighted", 20))][i >> 3 & 3];
        all.push(Settings {
            normalisation: Steps { nfkc: !bit(0), casefold: !bit(1), whitespace: !bit(2), folding: Folding { han: bit(5), kana: bit(3), accents: bit(4) } },
            tokens: match i >> 5 {
                0 => Tokens::Chars(5),
                1 if bit(4) && bit(1) => Tokens::RunsAndNumbers,
                1 if bit(4) => Tokens::Runs(Dense::ALL[i & 1]),
                1 => Tokens::Chars(1 + i % 3 * 4),
                2 => Tokens::Words { n: 1, stop_words: StopWords::new(&[vec![97]]) },
                _ => Tokens::Words { n: 2, stop_words: StopWords::new(&[]) },
            },
            hash: Hash::named(["poly64", "murmur3", "fnv1a", "jenkins", "sha1"][i % 5]),
            width: if i % 7 == 6 { Width::Bits128 } else { Width::Bits64 },
            weighing: if i % 3 > 0 { Weighing::Set } else { Weighing::Tf },
            simhash_bits: if i % 7 == 6 { 128 } else { [64, 0, 63, 1][i % 4] },
            minhash: minhash.and_then(|(kind, size)| MinHash::named(kind, size)),
            floor: 8,
        });
    }
    all
}
