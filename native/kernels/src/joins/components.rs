//! Connected components of documents that pairs link (see `es_simhash._core.arrays`).

use crate::stop;

/// Documents; each points to an earlier one of its component, or to itself if it is the first.
pub struct Components {
    parents: Vec<u32>,
}

impl Components {
    /// Begin with this many documents, each alone.
    pub fn of(count: u32) -> Self {
        let mut parents = Vec::new();
        stop::extend(&mut parents, (0..count as usize).map(|document| document as u32));
        Self { parents }
    }

    pub fn count(&self) -> u32 {
        self.parents.len() as u32
    }

    /// Put the documents of each pair, which are below `count`, into one component.
    pub fn union(&mut self, pairs: impl Iterator<Item = (u32, u32)>) {
        for (place, (one, other)) in pairs.enumerate() {
            stop::look_at(place);
            let (one, other) = (self.first(one), self.first(other));
            self.parents[one.max(other) as usize] = one.min(other);
        }
    }

    /// Return the first document of each one's component.
    pub fn firsts(&mut self) -> &[u32] {
        for document in 0..self.parents.len() {
            stop::look_at(document);
            // Earlier documents already point to the first.
            self.parents[document] = self.parents[self.parents[document] as usize];
        }
        &self.parents
    }

    /// Find the first document of one's component, and halve the path to it.
    fn first(&mut self, mut document: u32) -> u32 {
        loop {
            let parent = self.parents[document as usize];
            let grandparent = self.parents[parent as usize];
            if parent == grandparent {
                return parent;
            }
            self.parents[document as usize] = grandparent;
            document = grandparent;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_point_to_the_first_one_that_pairs_link_them_to() {
        let mut components = Components::of(8);
        components.union([(7, 6), (5, 6), (2, 2), (3, 1), (1, 5)].into_iter());
        assert_eq!(components.firsts(), [0, 1, 2, 1, 4, 1, 1, 1]);
    }

    #[test]
    fn a_chain_is_one_component_from_either_end() {
        let links = (1..1000).map(|each| (each - 1, each));
        let (mut up, mut down) = (Components::of(1000), Components::of(1000));
        up.union(links.clone());
        down.union(links.rev());
        assert_eq!(up.firsts(), [0; 1000]);
        assert_eq!(down.firsts(), [0; 1000]);
    }
}
