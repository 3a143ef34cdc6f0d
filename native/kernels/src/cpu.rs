//! The instruction sets that kernels are compiled for; the best that this processor has is found when first asked.

use std::sync::OnceLock;

/// An instruction set with wider registers than the baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    Baseline,
    Avx2,
    Avx512,
}

/// The level to run kernels at: the best of this processor, or a lower one that `ES_SIMHASH_CPU` names.
pub fn level() -> Level {
    static LEVEL: OnceLock<Level> = OnceLock::new();
    *LEVEL.get_or_init(|| match std::env::var("ES_SIMHASH_CPU").as_deref() {
        Ok("baseline") => Level::Baseline,
        Ok("avx2") => detected().min(Level::Avx2),
        _ => detected(),
    })
}

#[cfg(target_arch = "x86_64")]
fn detected() -> Level {
    let avx2 = is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("popcnt");
    let avx512 = is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512cd")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl");
    match (avx2, avx512) {
        (true, true) => Level::Avx512,
        (true, false) => Level::Avx2,
        _ => Level::Baseline,
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn detected() -> Level {
    Level::Baseline
}

/// Define a function whose body is compiled once for each `Level`, and calls the one for this processor.
///
/// The body is plain Rust: the compiler makes vector instructions of its loops. What it calls must be inlined.
#[macro_export]
macro_rules! for_each_cpu {
    ($(#[$meta:meta])* $vis:vis fn $name:ident($($arg:ident: $kind:ty),* $(,)?) $(-> $returned:ty)? $body:block) => {
        $(#[$meta])*
        $vis fn $name($($arg: $kind),*) $(-> $returned)? {
            #[inline(always)]
            fn body($($arg: $kind),*) $(-> $returned)? $body

            #[cfg(target_arch = "x86_64")]
            {
                use $crate::cpu::{Level, level};
                #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
                fn avx512($($arg: $kind),*) $(-> $returned)? { body($($arg),*) }
                #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
                fn avx2($($arg: $kind),*) $(-> $returned)? { body($($arg),*) }
                match level() {
                    // SAFETY: this processor has all features that the function is compiled for.
                    #[allow(unsafe_code)]
                    Level::Avx512 => return unsafe { avx512($($arg),*) },
                    // SAFETY: as above.
                    #[allow(unsafe_code)]
                    Level::Avx2 => return unsafe { avx2($($arg),*) },
                    Level::Baseline => {}
                }
            }
            body($($arg),*)
        }
    };
}
