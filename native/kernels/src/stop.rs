//! A request to stop, which long work looks for now and then.
//!
//! Loops over much call `look`, however deep they are below what began the work. Once their thread is asked to stop, it
//! unwinds to there: what is half done is dropped.

use std::cell::RefCell;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Scope, ScopedJoinHandle};

/// Items that a loop handles in a few milliseconds at most; fewer in tests, so that these cut what they try into parts.
pub const FEW: usize = if cfg!(test) { 1 << 6 } else { 1 << 18 };

#[derive(Default)]
pub struct Stop(AtomicBool);

/// What a thread unwinds with.
struct Stopped;

thread_local! {
    static HEEDED: RefCell<Option<Arc<Stop>>> = const { RefCell::new(None) };
}

impl Stop {
    pub fn request(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Let this thread heed the request from now on.
    pub fn heed(self: Arc<Self>) {
        HEEDED.set(Some(self));
    }
}

/// Do work in another thread, which heeds what this one does.
pub fn spawn<'scope, Made: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    work: impl FnOnce() -> Made + Send + 'scope,
) -> ScopedJoinHandle<'scope, Made> {
    let heeded = HEEDED.with_borrow(Clone::clone);
    scope.spawn(|| {
        HEEDED.set(heeded);
        work()
    })
}

/// Unwind if this thread was asked to stop.
pub fn look() {
    if HEEDED.with_borrow(|heeded| heeded.as_ref().is_some_and(|stop| stop.0.load(Ordering::Relaxed))) {
        resume_unwind(Box::new(Stopped));
    }
}

/// Look at some of the places of a loop.
#[inline(always)]
pub fn look_at(place: usize) {
    if place.is_multiple_of(FEW) && place > 0 {
        look();
    }
}

/// Looks of a loop that comes by few of its places.
pub struct Looks {
    next: usize,
}

impl Looks {
    /// Begin at a place.
    pub fn after(place: usize) -> Self {
        Self { next: place + FEW }
    }

    /// Look if the last look was far before this place.
    #[inline(always)]
    pub fn at(&mut self, place: usize) {
        if place >= self.next {
            look();
            self.next = place + FEW;
        }
    }
}

/// Cut items into parts; look before each, unless there is but one.
pub fn parts<T>(items: &[T]) -> impl Iterator<Item = &[T]> {
    let is_long = items.len() > FEW;
    items.chunks(FEW).inspect(move |_| {
        if is_long {
            look();
        }
    })
}

/// The same for items that change.
pub fn parts_mut<T>(items: &mut [T]) -> impl Iterator<Item = &mut [T]> {
    let is_long = items.len() > FEW;
    items.chunks_mut(FEW).inspect(move |_| {
        if is_long {
            look();
        }
    })
}

/// Grow or cut as `Vec::resize` does with zeros, and look while this takes long.
pub fn resize<T: Copy + Default>(items: &mut Vec<T>, length: usize) {
    items.reserve(length.saturating_sub(items.len()));
    while items.len() + FEW < length {
        look();
        items.resize(items.len() + FEW, T::default());
    }
    items.resize(length, T::default());
}

/// Append as `Vec::extend` does, and look while this takes long.
pub fn extend<T>(items: &mut Vec<T>, more: impl ExactSizeIterator<Item = T>) {
    items.reserve(more.len());
    let mut more = more;
    while more.len() > FEW {
        look();
        items.extend(more.by_ref().take(FEW));
    }
    items.extend(more);
}

/// Sort as `sort_unstable` does, and look while this takes long.
pub fn sort<T: Ord>(items: &mut [T]) {
    if items.len() <= FEW {
        return items.sort_unstable();
    }
    let mut compared = 0;
    items.sort_unstable_by(|a, b| {
        compared += 1;
        look_at(compared);
        a.cmp(b)
    });
}

/// Sort as `sort_by_key` does, and look while this takes long.
pub fn sort_by_key<T, K: Ord>(items: &mut [T], key: impl Fn(&T) -> K) {
    if items.len() <= FEW {
        return items.sort_by_key(key);
    }
    let mut compared = 0;
    items.sort_by(|a, b| {
        compared += 1;
        look_at(compared);
        key(a).cmp(&key(b))
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    fn ends_early(work: fn()) -> bool {
        let stop = Arc::<Stop>::default();
        stop.request();
        let worker = thread::spawn(move || {
            stop.heed();
            work();
        });
        worker.join().is_err_and(|payload| payload.is::<Stopped>())
    }

    #[test]
    fn a_thread_that_is_asked_to_stop_unwinds_where_it_looks() {
        assert!(ends_early(look));
        assert!(ends_early(|| assert_eq!(parts(&[0; FEW + 1]).count(), 2)));
        assert!(ends_early(|| assert_eq!(parts_mut(&mut [0; FEW + 1]).count(), 2)));
        assert!(ends_early(|| resize(&mut vec![0], 2 * FEW)));
        assert!(ends_early(|| extend(&mut Vec::new(), 0..2 * FEW)));
        assert!(ends_early(|| sort(&mut (0..2 * FEW).rev().collect::<Vec<_>>())));
        assert!(ends_early(|| sort_by_key(&mut (0..2 * FEW).collect::<Vec<_>>(), |i| i % 7)));
        let in_another =
            || thread::scope(|scope| spawn(scope, look).join().unwrap_or_else(|panic| resume_unwind(panic)));
        assert!(ends_early(in_another));
        assert!(!ends_early(|| sort(&mut [2, 1])));
    }

    #[test]
    fn other_threads_go_on() {
        look();
        let mut items: Vec<usize> = (0..FEW + 1).map(|i| i.wrapping_mul(0x9E37_79B9) % 1000).collect();
        let mut expected = items.clone();
        expected.sort_unstable();
        sort(&mut items);
        assert_eq!(items, expected);
        expected.sort_by_key(|i| i % 7);
        sort_by_key(&mut items, |i| i % 7);
        assert_eq!(items, expected);
        assert_eq!(parts(&items).map(<[usize]>::len).collect::<Vec<_>>(), [FEW, 1]);
        resize(&mut items, 3);
        resize(&mut items, 2 * FEW + 9);
        assert_eq!((items[..3].to_vec(), items[3..].to_vec()), (expected[..3].to_vec(), vec![0; 2 * FEW + 6]));
        extend(&mut items, 0..2 * FEW + 1);
        assert_eq!((items.len(), items.last()), (4 * FEW + 10, Some(&(2 * FEW))));
    }
}
