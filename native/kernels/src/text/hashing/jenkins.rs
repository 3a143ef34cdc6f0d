//! Bob Jenkins' lookup3 on bytes (defined in `es_simhash.text.hashing`).

const MIX_ROTATIONS: [u32; 6] = [4, 6, 8, 16, 19, 4];
const FINAL_ROTATIONS: [u32; 7] = [14, 11, 25, 16, 4, 14, 24];

/// The hash of 128 bits: its first word is that of 64, whose upper half is that of 32.
pub fn lookup3(data: &[u8], is_wide: bool) -> [u64; 2] {
    let [c, b] = hashlittle2(data, 0, 0);
    let second = if is_wide { joined(hashlittle2(data, c, b)) } else { 0 };
    [joined([c, b]), second]
}

fn joined([high, low]: [u32; 2]) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

fn hashlittle2(data: &[u8], seed_c: u32, seed_b: u32) -> [u32; 2] {
    let start = 0xDEAD_BEEF_u32.wrapping_add(data.len() as u32).wrapping_add(seed_c);
    let mut state = [start, start, start.wrapping_add(seed_b)];
    if data.is_empty() {
        return [state[2], state[1]];
    }
    // The last block is finished in another way, even if it is full.
    let (blocks, last) = data.split_at((data.len() - 1) / 12 * 12);
    for block in blocks.chunks_exact(12) {
        state = mixed(sum(state, block));
    }
    let mut padded = [0; 12];
    padded[..last.len()].copy_from_slice(last);
    finished(sum(state, &padded))
}

fn sum(mut state: [u32; 3], block: &[u8]) -> [u32; 3] {
    for (number, bytes) in state.iter_mut().zip(block.as_chunks::<4>().0) {
        *number = number.wrapping_add(u32::from_le_bytes(*bytes));
    }
    state
}

fn mixed([mut a, mut b, mut c]: [u32; 3]) -> [u32; 3] {
    for k in MIX_ROTATIONS {
        (a, b, c) = (b, c.wrapping_add(b), a.wrapping_sub(c) ^ c.rotate_left(k));
    }
    [a, b, c]
}

fn finished([mut a, mut b, mut c]: [u32; 3]) -> [u32; 2] {
    for k in FINAL_ROTATIONS {
        (a, b, c) = (b, c, a);
        b = (b ^ a).wrapping_sub(a.rotate_left(k));
    }
    [b, a]
}
