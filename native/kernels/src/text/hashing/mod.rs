//! The hash functions of tokens (defined in `es_simhash.text.hashing`).

pub mod poly64;
pub mod prefixes;
pub mod short;

mod fnv1a;
mod jenkins;
mod murmur3;

use crate::stop;
use md5::{Digest, Md5};
use sha1::Sha1;
use sha2::Sha256;

/// What hashes tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hash {
    Poly64,
    OfBytes(BytesHash),
    /// A function of the caller's.
    Given,
}

impl Hash {
    /// The function of that name; any other name is that of a caller's function.
    pub fn named(name: &str) -> Self {
        if name == "poly64" { Self::Poly64 } else { BytesHash::named(name).map_or(Self::Given, Self::OfBytes) }
    }

    /// Whether every bit of a hash depends on all of its token, as MinHash requires.
    pub fn is_mixed(self) -> bool {
        !matches!(self, Self::OfBytes(BytesHash::Fnv1a) | Self::Given)
    }
}

/// A function of a token's UTF-8, unlike poly64, which reads UTF-16.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BytesHash {
    Murmur3,
    Fnv1a,
    Md5,
    Sha1,
    Sha256,
    Jenkins,
}

/// The width of a hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    Bits32,
    Bits64,
    Bits128,
}

impl BytesHash {
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "murmur3" => Self::Murmur3,
            "fnv1a" => Self::Fnv1a,
            "md5" => Self::Md5,
            "sha1" => Self::Sha1,
            "sha256" => Self::Sha256,
            "jenkins" => Self::Jenkins,
            _ => return None,
        })
    }

    /// The hash of a token; the second word is that of hashes of 128 bits.
    pub fn hash(self, token: &[u8], width: Width) -> [u64; 2] {
        match (self, width) {
            (Self::Murmur3, Width::Bits32) => [murmur3::x86_32(token).into(), 0],
            (Self::Fnv1a, Width::Bits32) => [fnv1a::of_32_bits(token).into(), 0],
            (Self::Fnv1a, Width::Bits64) => [fnv1a::of_64_bits(token), 0],
            (Self::Fnv1a, Width::Bits128) => words_of(fnv1a::of_128_bits(token)),
            (_, Width::Bits32) => [self.longest(token, width)[0] >> 32, 0],
            _ => self.longest(token, width),
        }
    }

    /// The hash of 128 bits, if its upper bits are the hash of fewer.
    fn longest(self, token: &[u8], width: Width) -> [u64; 2] {
        match self {
            Self::Murmur3 => murmur3::x64_128(token),
            Self::Fnv1a => words_of(fnv1a::of_128_bits(token)),
            Self::Md5 => first_words(&digest::<Md5>(token)),
            Self::Sha1 => first_words(&digest::<Sha1>(token)),
            Self::Sha256 => first_words(&digest::<Sha256>(token)),
            Self::Jenkins => jenkins::lookup3(token, width == Width::Bits128),
        }
    }
}

/// The digest of bytes, however many.
pub fn digest<D: Digest>(bytes: &[u8]) -> impl AsRef<[u8]> + use<D> {
    let mut digest = D::new();
    stop::parts(bytes).for_each(|part| digest.update(part));
    digest.finalize()
}

fn words_of(number: u128) -> [u64; 2] {
    [(number >> 64) as u64, number as u64]
}

/// The first 128 bits of a digest, read as a big-endian number.
fn first_words(digest: &impl AsRef<[u8]>) -> [u64; 2] {
    words_of(digest.as_ref().iter().take(16).fold(0, |number, &byte| number << 8 | u128::from(byte)))
}
