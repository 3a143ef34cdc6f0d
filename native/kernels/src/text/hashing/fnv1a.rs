//! FNV-1a (RFC 9923): the primes and offset bases by width stand in `es_simhash.text.hashing`, too.

use crate::stop;

const PRIME_32: u32 = 0x0100_0193;
const BASIS_32: u32 = 0x811C_9DC5;
const PRIME_64: u64 = 0x0000_0100_0000_01B3;
const BASIS_64: u64 = 0xCBF2_9CE4_8422_2325;
const PRIME_128: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013B;
const BASIS_128: u128 = 0x6C62_272E_07BB_0142_62B8_2175_6295_C58D;

pub fn of_32_bits(data: &[u8]) -> u32 {
    let add = |value: u32, &byte: &u8| (value ^ u32::from(byte)).wrapping_mul(PRIME_32);
    stop::parts(data).fold(BASIS_32, |value, part| part.iter().fold(value, add))
}

pub fn of_64_bits(data: &[u8]) -> u64 {
    let add = |value: u64, &byte: &u8| (value ^ u64::from(byte)).wrapping_mul(PRIME_64);
    stop::parts(data).fold(BASIS_64, |value, part| part.iter().fold(value, add))
}

pub fn of_128_bits(data: &[u8]) -> u128 {
    let add = |value: u128, &byte: &u8| (value ^ u128::from(byte)).wrapping_mul(PRIME_128);
    stop::parts(data).fold(BASIS_128, |value, part| part.iter().fold(value, add))
}
