//! Fingerprints read back from documents' fields (defined in `es_simhash.scheme.own_fields.read`).

use super::fields::Layout;
use crate::sketches::digits::read_hex;
use crate::sketches::estimate::estimates;

/// The fields of a document that make its fingerprint; those that it lacks are empty.
#[derive(Default)]
pub struct Stored<'a> {
    pub simhash: &'a [u8],
    /// The keys of all blocks, with spaces between them.
    pub blocks: &'a [u8],
    /// The keys of all bands, with spaces between them.
    pub bands: &'a [u8],
    pub signature: &'a [u8],
}

/// The fingerprints of some documents, as columns; what a layout does not store has none.
#[derive(Default)]
pub struct Rows {
    /// One word each, or two if they have more than 64 bits.
    pub simhashes: Vec<u64>,
    /// The low bits of a signature's rows, as far as keys hold them.
    pub keyed: Vec<u32>,
    /// The values of signatures that are stored apart.
    pub signatures: Vec<u32>,
    bytes: Vec<u8>,
}

impl Rows {
    /// Append the fingerprint of a document, and return whether it has a whole one.
    pub fn append(&mut self, layout: &Layout, stored: &Stored<'_>) -> bool {
        let lengths = (self.simhashes.len(), self.keyed.len(), self.signatures.len());
        let is_whole = self.append_parts(layout, stored);
        if !is_whole {
            self.simhashes.truncate(lengths.0);
            self.keyed.truncate(lengths.1);
            self.signatures.truncate(lengths.2);
        }
        is_whole
    }

    /// Estimate the similarity of each row to a signature, by what is stored apart if anything is, else by the values of
    /// keys; None if these are whole, or there are none.
    pub fn estimates(&self, layout: &Layout, signature: &[u32]) -> Option<Vec<f64>> {
        let (size, rows, bits) = match (layout.signature(), layout.bands()) {
            (Some(codec), _) => (codec.size, &self.signatures, codec.value_bits),
            (None, Some(bands)) => (bands.count * bands.rows, &self.keyed, bands.value_bits()),
            (None, None) => return None,
        };
        if bits < u32::BITS { Some(estimates(signature.get(..size)?, rows, bits)) } else { None }
    }

    fn append_parts(&mut self, layout: &Layout, stored: &Stored<'_>) -> bool {
        if let Some(blocks) = layout.blocks() {
            let bits = blocks.bits;
            let simhash =
                if layout.has_simhash() { read_hex(stored.simhash, bits) } else { blocks.read_keys(stored.blocks) };
            let Some(simhash) = simhash else { return false };
            if bits > 64 {
                self.simhashes.push((simhash >> 64) as u64);
            }
            self.simhashes.push(simhash as u64);
        }
        layout.bands().is_none_or(|bands| bands.read_keys(stored.bands, &mut self.keyed))
            && layout
                .signature()
                .is_none_or(|codec| codec.read_text(stored.signature, &mut self.bytes, &mut self.signatures))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheme::fields::KeyForm;
    use crate::sketches::bands::Bands;
    use crate::sketches::blocks::Blocks;

    #[test]
    fn documents_without_a_whole_fingerprint_are_left_out() {
        let bands = Bands { count: 2, rows: 1, key_bits: 6 };
        let blocks = Blocks { bits: 80, count: 2 };
        let layout = Layout::new(Some(blocks), Some(bands), None, KeyForm::Text, true).expect("keys");
        let mut rows = Rows::default();
        for (simhash, bands) in [("10000000000000000", "o Q"), ("1", "oQ"), ("", "o Q"), ("2", "o Q")] {
            let stored = Stored { simhash: simhash.as_bytes(), bands: bands.as_bytes(), ..Stored::default() };
            rows.append(&layout, &stored);
        }
        assert_eq!(rows.simhashes, [1, 0, 0, 2]);
        assert_eq!(rows.keyed, [1, 2, 1, 2]);
    }

    #[test]
    fn blocks_hold_the_simhash_if_it_has_no_field() {
        let blocks = Blocks { bits: 12, count: 2 };
        let layout = Layout::new(Some(blocks), None, None, KeyForm::Text, false).expect("keys");
        let mut rows = Rows::default();
        let read: Vec<_> = ["0q 18", "0q", "0q 08"]
            .iter()
            .map(|keys| rows.append(&layout, &Stored { blocks: keys.as_bytes(), ..Stored::default() }))
            .collect();
        assert_eq!((read, rows.simhashes), (vec![true, false, false], vec![0xABC]));
    }
}
