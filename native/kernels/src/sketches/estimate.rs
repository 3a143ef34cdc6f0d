//! Similarities estimated from signatures (defined in `es_simhash.sketches.minhash.estimate`).

/// Estimate the similarity of a signature and each of some rows by the lowest `bits` bits of their values, fewer than 32.
pub fn estimates(own: &[u32], rows: &[u32], bits: u32) -> Vec<f64> {
    let mask = (1 << bits) - 1;
    let chance = 1.0 / f64::from(1_u32 << bits);
    let estimate = |row: &[u32]| {
        let agreeing = own.iter().zip(row).filter(|&(a, b)| (a ^ b) & mask == 0).count();
        let share = agreeing as f64 / own.len() as f64;
        ((share - chance) / (1.0 - chance)).max(0.0)
    };
    rows.chunks_exact(own.len().max(1)).map(estimate).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_agree_by_chance_do_not_count() {
        assert_eq!(estimates(&[1, 2, 3, 4], &[1, 2, 3, 4, 0, 0, 0, 0, 1, 2, 7, 0], 2), [1.0, 0.0, 2.0 / 3.0]);
    }
}
