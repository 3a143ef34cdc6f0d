//! A value for each code point, in blocks: most of them are shared.

const BLOCK: usize = 128;
const CODE_POINTS: usize = 0x11_0000;

pub struct ByCodePoint<T> {
    /// Which block has the values of each `BLOCK` code points; the last one is for what is not a code point.
    index: Vec<u16>,
    blocks: Vec<[T; BLOCK]>,
    /// The first blocks have one value each, and are shared.
    shared: usize,
}

impl<T: Copy + PartialEq> ByCodePoint<T> {
    /// Give the first of `common` to all; ranges of any of these values are filled cheaply.
    pub fn new(common: &[T]) -> Self {
        let blocks: Vec<_> = common.iter().map(|&value| [value; BLOCK]).collect();
        Self { index: vec![0; CODE_POINTS / BLOCK + 1], shared: blocks.len(), blocks }
    }

    /// Return the value of a code point; what is beyond the last one shares a value.
    #[inline(always)]
    pub fn get(&self, point: u32) -> T {
        let point = point as usize;
        let block = self.index[(point / BLOCK).min(CODE_POINTS / BLOCK)];
        self.blocks[usize::from(block)][point % BLOCK]
    }

    pub fn set(&mut self, point: u32, value: T) {
        let place = point as usize / BLOCK;
        if usize::from(self.index[place]) < self.shared {
            self.blocks.push(self.blocks[usize::from(self.index[place])]);
            self.index[place] = (self.blocks.len() - 1) as u16;
        }
        self.blocks[usize::from(self.index[place])][point as usize % BLOCK] = value;
    }

    /// Give the same value to the code points from `first` to `last`.
    pub fn fill(&mut self, first: u32, last: u32, value: T) {
        let block = self.blocks[..self.shared].iter().position(|block| block[0] == value);
        let mut point = first;
        while point <= last {
            let is_whole = (point as usize).is_multiple_of(BLOCK) && (last - point) as usize >= BLOCK - 1;
            if let (true, Some(block)) = (is_whole, block) {
                self.index[point as usize / BLOCK] = block as u16;
                point += BLOCK as u32;
            } else {
                self.set(point, value);
                point += 1;
            }
        }
    }

    /// Give a value to what is not a code point.
    pub fn fill_beyond(&mut self, value: T) {
        self.blocks.push([value; BLOCK]);
        self.index[CODE_POINTS / BLOCK] = (self.blocks.len() - 1) as u16;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "takes minutes")]
    fn each_code_point_has_the_value_given_last() {
        let mut values = ByCodePoint::new(&[0, 7]);
        values.fill(1_000, 5_000, 7);
        values.set(1_200, 3);
        values.fill_beyond(9);
        let expected = |point| match point {
            1_200 => 3,
            1_000..=5_000 => 7,
            0x11_0000.. => 9,
            _ => 0,
        };
        assert!((0..0x11_0000 + 300).chain([u32::MAX]).all(|point| values.get(point) == expected(point)));
    }
}
