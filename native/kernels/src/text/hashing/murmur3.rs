//! MurmurHash3 with the seed 0 (Appleby, 2010): x86_32 and x64_128.

use super::poly64::fmix64;

const FACTORS_32: [u32; 2] = [0xCC9E_2D51, 0x1B87_3593];
const FACTORS_128: [u64; 2] = [0x87C3_7B91_1142_53D5, 0x4CF5_AD43_2745_937F];

pub fn x86_32(data: &[u8]) -> u32 {
    let (blocks, tail) = data.as_chunks::<4>();
    let mut h = blocks.iter().fold(0, |h: u32, block| {
        (h ^ scrambled_32(u32::from_le_bytes(*block))).rotate_left(13).wrapping_mul(5).wrapping_add(0xE654_6B64)
    });
    h ^= scrambled_32(little_endian(tail) as u32);
    fmix32(h ^ data.len() as u32)
}

pub fn x64_128(data: &[u8]) -> [u64; 2] {
    let (blocks, tail) = data.as_chunks::<16>();
    let [mut a, mut b] = [0_u64; 2];
    for block in blocks {
        let (first, second) = block.split_at(8);
        a = (a ^ scrambled(little_endian(first))).rotate_left(27).wrapping_add(b);
        a = a.wrapping_mul(5).wrapping_add(0x52DC_E729);
        b = (b ^ scrambled_second(little_endian(second))).rotate_left(31).wrapping_add(a);
        b = b.wrapping_mul(5).wrapping_add(0x3849_5AB5);
    }
    let (first, second) = tail.split_at(tail.len().min(8));
    a ^= scrambled(little_endian(first)) ^ data.len() as u64;
    b ^= scrambled_second(little_endian(second)) ^ data.len() as u64;
    [a, b] = summed([a, b]);
    summed([fmix64(a), fmix64(b)])
}

fn scrambled_32(k: u32) -> u32 {
    k.wrapping_mul(FACTORS_32[0]).rotate_left(15).wrapping_mul(FACTORS_32[1])
}

fn scrambled(k: u64) -> u64 {
    k.wrapping_mul(FACTORS_128[0]).rotate_left(31).wrapping_mul(FACTORS_128[1])
}

fn scrambled_second(k: u64) -> u64 {
    k.wrapping_mul(FACTORS_128[1]).rotate_left(33).wrapping_mul(FACTORS_128[0])
}

fn summed([a, b]: [u64; 2]) -> [u64; 2] {
    let sum = a.wrapping_add(b);
    [sum, b.wrapping_add(sum)]
}

fn fmix32(mut h: u32) -> u32 {
    h = (h ^ (h >> 16)).wrapping_mul(0x85EB_CA6B);
    h = (h ^ (h >> 13)).wrapping_mul(0xC2B2_AE35);
    h ^ (h >> 16)
}

/// Up to eight bytes as a number, the first one lowest.
fn little_endian(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}
