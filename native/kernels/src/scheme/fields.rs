//! The values of a document's fields (defined in `es_simhash.scheme.own_fields`).

use std::ops::Range;

use super::content;
use crate::sketches::bands::Bands;
use crate::sketches::blocks::Blocks;
use crate::sketches::codec::SignatureCodec;
use crate::sketches::digits::append_hex;
use crate::text::Refused;

/// How a document stores keys.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum KeyForm {
    /// All of a kind in one text, with spaces between them.
    Text,
    /// All of a kind as a list.
    List,
    /// Each in a field of its own.
    Fields,
}

/// Where the value of a field stands in what `Layout::append` writes.
pub struct Field {
    pub place: Range<usize>,
    /// The width of each key, if the value is a list of keys, which have a space between them.
    pub key: Option<usize>,
}

/// The parts of a fingerprint that are stored, each with a value of fixed length.
pub struct Layout {
    simhash: Option<Blocks>,
    bands: Option<Bands>,
    signature: Option<SignatureCodec>,
    form: KeyForm,
    /// Whether the SimHash has a field of its own, the first one; else its blocks hold it.
    has_simhash: bool,
    fields: Vec<Field>,
    /// Which of the fields hold keys of blocks.
    block_fields: Range<usize>,
    /// Which of the fields hold keys of bands.
    band_fields: Range<usize>,
    length: usize,
}

impl Layout {
    /// Return no layout if the parts have no keys.
    pub fn new(
        simhash: Option<Blocks>,
        bands: Option<Bands>,
        signature: Option<SignatureCodec>,
        form: KeyForm,
        has_simhash: bool,
    ) -> Option<Self> {
        let have_keys = simhash.as_ref().is_none_or(Blocks::have_keys) && bands.as_ref().is_none_or(Bands::have_keys);
        let has_text = signature.as_ref().is_none_or(SignatureCodec::has_text);
        if !have_keys || !has_text {
            return None;
        }
        let (fields, none) = (Vec::new(), 0..0);
        let mut layout = Self {
            simhash,
            bands,
            signature,
            form,
            has_simhash,
            fields,
            block_fields: none.clone(),
            band_fields: none,
            length: 0,
        };
        if let Some(blocks) = &layout.simhash {
            let (hex, count, digits) = (hex_digits(blocks), blocks.count as usize, blocks.key_digits());
            if has_simhash {
                layout.add_field(hex, None);
            }
            layout.block_fields = layout.add_keys(count, digits);
        }
        if let Some(bands) = &layout.bands {
            let (count, digits) = (bands.count, bands.key_digits());
            layout.band_fields = layout.add_keys(count, digits);
        }
        if let Some(length) = layout.signature.as_ref().map(SignatureCodec::text_length) {
            layout.add_field(length, None);
        }
        layout.add_field(content::LENGTH, None);
        Some(layout)
    }

    fn add_field(&mut self, length: usize, key: Option<usize>) {
        self.fields.push(Field { place: self.length..self.length + length, key });
        self.length += length;
    }

    /// Return which fields these are.
    fn add_keys(&mut self, count: usize, digits: usize) -> Range<usize> {
        let first = self.fields.len();
        if self.form == KeyForm::Fields {
            for i in 0..count {
                self.length += usize::from(i > 0);
                self.add_field(digits, None);
            }
        } else {
            self.add_field(count * (digits + 1) - 1, (self.form == KeyForm::List).then_some(digits));
        }
        first..self.fields.len()
    }

    /// The fields in their order; the last one is the hash of the content.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    pub fn form(&self) -> KeyForm {
        self.form
    }

    /// Whether the SimHash is stored in a field of its own, the first one.
    pub fn has_simhash(&self) -> bool {
        self.has_simhash
    }

    /// The fields among them that hold keys of blocks.
    pub fn block_fields(&self) -> Range<usize> {
        self.block_fields.clone()
    }

    /// The fields among them that hold keys of bands.
    pub fn band_fields(&self) -> Range<usize> {
        self.band_fields.clone()
    }

    /// The number of bytes that `append` writes.
    pub fn length(&self) -> usize {
        self.length
    }

    /// The width of the SimHash, if it is stored.
    pub fn simhash_bits(&self) -> Option<u32> {
        self.simhash.as_ref().map(|blocks| blocks.bits)
    }

    pub fn blocks(&self) -> Option<&Blocks> {
        self.simhash.as_ref()
    }

    pub fn bands(&self) -> Option<&Bands> {
        self.bands.as_ref()
    }

    /// How the signature is stored, if it is stored apart.
    pub fn signature(&self) -> Option<&SignatureCodec> {
        self.signature.as_ref()
    }

    /// Whether a signature of `size` values can be written.
    pub fn takes_signatures(&self, size: usize) -> bool {
        self.bands.as_ref().is_none_or(|bands| bands.count * bands.rows <= size)
            && self.signature.as_ref().is_none_or(|codec| codec.size == size)
    }

    /// Append the values of all fields of a text in UTF-8, as ASCII. What the layout does not store is not read.
    pub fn append(
        &self,
        text: &[u8],
        simhash: u128,
        signature: &[u32],
        bytes: &mut Vec<u8>,
        target: &mut Vec<u8>,
    ) -> Result<(), Refused> {
        if let Some(blocks) = &self.simhash {
            if blocks.bits < 128 && simhash >> blocks.bits != 0 {
                return Err(Refused);
            }
            if self.has_simhash {
                append_hex(simhash, hex_digits(blocks) as u32, target);
            }
            blocks.append_keys(simhash, target);
        }
        if let Some(bands) = &self.bands {
            bands.append_keys(signature, target);
        }
        if let Some(codec) = &self.signature {
            codec.append_text(signature, bytes, target);
        }
        content::append_hash(text, target);
        Ok(())
    }
}

fn hex_digits(blocks: &Blocks) -> usize {
    blocks.bits.div_ceil(4) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(form: KeyForm, has_simhash: bool) -> Layout {
        let (blocks, bands) = (Blocks { bits: 12, count: 2 }, Bands { count: 2, rows: 1, key_bits: 6 });
        let codec = SignatureCodec { size: 3, value_bits: 8 };
        Layout::new(Some(blocks), Some(bands), Some(codec), form, has_simhash).expect("all have keys")
    }

    fn values(layout: &Layout) -> Vec<String> {
        let mut target = Vec::new();
        let made = layout.append(b"abc", 0xABC, &[1, 2, 3], &mut Vec::new(), &mut target);
        assert_eq!((made, target.len()), (Ok(()), layout.length()));
        let value = |field: &Field| String::from_utf8_lossy(&target[field.place.clone()]).into_owned();
        layout.fields().iter().map(value).collect()
    }

    #[test]
    fn each_field_has_its_place() {
        let (text, list) = (layout(KeyForm::Text, true), layout(KeyForm::List, true));
        assert_eq!(values(&text), ["abc", "0q 18", "o Q", "AQID", "ungWv48B"]);
        assert_eq!(values(&list), values(&text));
        assert_eq!(values(&layout(KeyForm::Fields, true)), ["abc", "0q", "18", "o", "Q", "AQID", "ungWv48B"]);
        assert_eq!(list.fields()[1].key, Some(2));
    }

    #[test]
    fn blocks_stand_first_where_the_simhash_has_no_field() {
        let layout = layout(KeyForm::Text, false);
        assert_eq!(values(&layout), ["0q 18", "o Q", "AQID", "ungWv48B"]);
        assert_eq!((layout.block_fields(), layout.band_fields()), (0..1, 1..2));
    }

    #[test]
    fn a_simhash_of_too_many_bits_is_refused() {
        let made = layout(KeyForm::Text, true).append(b"", 0x1000, &[1, 2, 3], &mut Vec::new(), &mut Vec::new());
        assert_eq!(made, Err(Refused));
    }
}
