//! Noise that is drawn before the vector it is for is known.

use super::student::draw_student;
use super::{BulkGaussian, BulkNoise, PIECE, Parallelism, THREAD_WORTH, add_cells, add_noise_to};
use crate::entropy::{Block, Stream, generation};
use crate::paid::{each, pays_for, pays_for_gaussian};
use crate::sampler::{StudentSampler, normal_cells};
use crate::{Entropy, NoiseError};
use reticent_core::{Event, Permit};
use std::slice::ChunksMut;
use std::sync::{Mutex, PoisonError};
use zeroize::Zeroize;

/// Noise drawn before the vector is known, as integers of four bytes per coordinate, eight for Student-t noise. It cannot be read or copied. Each
/// drawing serves one call and is erased by it, or on drop. A forked child cannot use what its parent drew.
///
/// # Guarantee
/// It serves only the noise that was paid for, and only as many calls as were paid for. If the event is that of a sample or of a
/// clipped sum, the caller must prove that the values are such a sample or sum.
///
/// # Reference
/// [`Permit::spend`].
pub struct NoiseAhead {
    /// The noise that was paid for.
    noise: BulkNoise,
    /// Gaussian noise.
    cells: Vec<i32>,
    /// Student-t noise.
    wide: Vec<i64>,
    /// Calls that are paid for and were not made.
    calls: u64,
    /// The process that may use it; none when it is used.
    fresh_in: Option<u64>,
}

impl NoiseAhead {
    /// An empty buffer, to be filled by `draw_ahead` of the noise before each use. The event is the cost of all calls together:
    /// that of the noise, or that of the noise on a sample or on a clipped sum; one of a smaller multiplier of Gaussian noise costs more
    /// and pays for it as well. A single event pays for one call, a repeated event for as many as it counts.
    ///
    /// # Errors
    /// [`NoiseError::Unpaid`] when the permit does not cover the event, or the event is one of more noise, or of another kind.
    pub fn new<N: Clone + Into<BulkNoise>>(
        noise: &N,
        permit: &mut Permit,
        event: &Event,
    ) -> Result<Self, NoiseError> {
        Self::in_sequence(noise, permit, std::slice::from_ref(event))
    }

    /// As [`new`](Self::new), where several events are the cost of all calls together: those that the first event pays for, then those of
    /// the second, and so on, such as calls on samples of different rates.
    ///
    /// # Guarantee
    /// That each call is on a sample or a sum of its own event is the caller's to prove.
    ///
    /// # Reference
    /// [`Permit::spend`].
    ///
    /// # Errors
    /// As [`new`](Self::new), for any of the events.
    pub fn in_sequence<N: Clone + Into<BulkNoise>>(
        noise: &N,
        permit: &mut Permit,
        events: &[Event],
    ) -> Result<Self, NoiseError> {
        let noise = noise.clone().into();
        let mut calls = 0u64;
        for event in events {
            let (one, own_calls) = each(event);
            let is_paid = match &noise {
                BulkNoise::Gaussian(own) => pays_for_gaussian(one, own.noise_multiplier()),
                BulkNoise::Student(own) => pays_for(one, &own.event()),
            };
            if !is_paid {
                return Err(NoiseError::Unpaid);
            }
            permit.spend(event)?;
            calls = calls.saturating_add(own_calls);
        }
        Ok(Self { noise, cells: Vec::new(), wide: Vec::new(), calls, fresh_in: None })
    }

    /// As [`new`](Self::new), for `calls` calls whose whole cost is one Gaussian event: what is released is correlated between them.
    ///
    /// # Guarantee
    /// That all calls together cost the event is the caller's to prove. One call never costs more than the event: its noise multiplier is at
    /// least the event's.
    ///
    /// # Reference
    /// The proof of banded factors in `reticent-accounting`.
    ///
    /// # Errors
    /// [`NoiseError::Unpaid`] when the permit does not cover the event, or the event is not Gaussian or has a larger noise multiplier than one
    /// call.
    pub fn together(
        noise: &BulkGaussian,
        permit: &mut Permit,
        event: &Event,
        calls: u64,
    ) -> Result<Self, NoiseError> {
        let Event::Gaussian { noise_multiplier } = event else { return Err(NoiseError::Unpaid) };
        if *noise_multiplier > noise.noise_multiplier() {
            return Err(NoiseError::Unpaid);
        }
        permit.spend(event)?;
        let noise = BulkNoise::Gaussian(*noise);
        Ok(Self { noise, cells: Vec::new(), wide: Vec::new(), calls, fresh_in: None })
    }

    /// Whether it can still serve a call.
    pub fn is_fresh(&self) -> bool {
        self.fresh_in == Some(generation())
    }

    /// Counts one call of `noise` as made.
    ///
    /// # Errors
    /// [`NoiseError::Unpaid`] when all calls that were paid for have been made, or other noise was paid for.
    pub(super) fn take_call(&mut self, noise: &BulkNoise) -> Result<(), NoiseError> {
        if *noise != self.noise {
            return Err(NoiseError::Unpaid);
        }
        self.calls = self.calls.checked_sub(1).ok_or(NoiseError::Unpaid)?;
        Ok(())
    }

    /// Starts drawing the Student-t noise of one call.
    pub(super) fn start_student(&mut self, sampler: StudentSampler, length: usize) -> Drawing<'_> {
        self.fresh_in = None;
        self.wide.resize(length, 0);
        let pieces = Mutex::new(self.wide.chunks_mut(piece(length)));
        Drawing { pieces: Pieces::Student(sampler, pieces), fresh_in: &mut self.fresh_in }
    }

    /// The Student-t noise of one call, which counts as made.
    pub(super) fn take_student(
        &mut self,
        noise: &BulkNoise,
        length: usize,
    ) -> Result<&mut [i64], NoiseError> {
        self.check_fresh(self.wide.len() == length)?;
        self.take_call(noise)?;
        self.fresh_in = None;
        Ok(&mut self.wide)
    }

    fn check_fresh(&self, has_length: bool) -> Result<(), NoiseError> {
        if self.is_fresh() && has_length {
            return Ok(());
        }
        let remedy =
            "draw it ahead for this length, anew for every call: noise that serves twice protects nothing";
        Err(NoiseError::invalid("noise", "used or of another length", remedy))
    }
}

/// Short vectors in pieces of a block, so two threads have work.
fn piece(length: usize) -> usize {
    (length / 16).next_multiple_of(Block::WORDS).clamp(Block::WORDS, PIECE)
}

impl Drop for NoiseAhead {
    fn drop(&mut self) {
        self.cells.zeroize();
        self.wide.zeroize();
    }
}

/// Noise being drawn into a [`NoiseAhead`]; idle threads can help.
pub struct Drawing<'a> {
    pieces: Pieces<'a>,
    fresh_in: &'a mut Option<u64>,
}

/// What has not been started.
enum Pieces<'a> {
    Normal(Mutex<ChunksMut<'a, i32>>),
    Student(StudentSampler, Mutex<ChunksMut<'a, i64>>),
}

/// The next piece.
fn next<'a, T>(pieces: &Mutex<ChunksMut<'a, T>>) -> Option<&'a mut [T]> {
    pieces.lock().unwrap_or_else(PoisonError::into_inner).next()
}

/// Whether every piece was started.
fn are_started<T>(pieces: &Mutex<ChunksMut<'_, T>>) -> bool {
    pieces.lock().unwrap_or_else(PoisonError::into_inner).len() == 0
}

impl Drawing<'_> {
    /// Draws until no piece is left to start, with a generator of its own.
    ///
    /// # Errors
    /// [`NoiseError::Entropy`] when the operating system provides no randomness; no piece has been started then.
    pub fn help(&self) -> Result<(), NoiseError> {
        let is_over = match &self.pieces {
            Pieces::Normal(pieces) => are_started(pieces),
            Pieces::Student(_, pieces) => are_started(pieces),
        };
        if is_over {
            return Ok(());
        }
        let mut stream = Stream::new(&mut Entropy::new()?);
        match &self.pieces {
            Pieces::Normal(pieces) => {
                let (mut block, mut drawn) = (Block::new(), [0i32; Block::WORDS]);
                while let Some(piece) = next(pieces) {
                    for part in piece.chunks_mut(Block::WORDS) {
                        if let Ok(whole) = part.try_into() {
                            normal_cells(&mut stream, &mut block, whole);
                        } else {
                            normal_cells(&mut stream, &mut block, &mut drawn);
                            part.copy_from_slice(&drawn[..part.len()]);
                        }
                    }
                }
                drawn.zeroize();
            }
            Pieces::Student(sampler, pieces) => {
                while let Some(piece) = next(pieces) {
                    draw_student(sampler, piece, &mut stream);
                }
            }
        }
        Ok(())
    }

    /// Draws the rest; then the noise can serve a call. No other thread can still be drawing, since this takes the drawing by value.
    ///
    /// # Errors
    /// As [`help`](Self::help).
    pub fn finish(self) -> Result<(), NoiseError> {
        self.help()?;
        *self.fresh_in = Some(generation());
        Ok(())
    }
}

impl BulkGaussian {
    /// Starts drawing the noise of one call into `ahead`, replacing what it held. The noise can serve a call only after
    /// [`Drawing::finish`].
    pub fn draw_ahead<'a>(&self, ahead: &'a mut NoiseAhead) -> Drawing<'a> {
        ahead.fresh_in = None;
        ahead.cells.resize(self.length, 0);
        let pieces = Mutex::new(ahead.cells.chunks_mut(piece(self.length)));
        Drawing { pieces: Pieces::Normal(pieces), fresh_in: &mut ahead.fresh_in }
    }

    /// Adds noise that was drawn ahead to every number in place, and erases it. A number that is not finite counts as 0.
    ///
    /// # Guarantee
    /// As [`add_noise`](Self::add_noise), of which it is the second half. The values must not depend on the noise, which
    /// they cannot: nothing but this call reads it.
    ///
    /// # Reference
    /// `proof.md`.
    ///
    /// # Errors
    /// [`NoiseError::Invalid`] when `values` does not have the declared length, or `ahead` has no fresh noise of that length;
    /// [`NoiseError::Unpaid`] when all calls that were paid for have been made, or other noise was paid for. Nothing is changed
    /// then.
    pub fn add_ahead(
        &self,
        values: &mut [f32],
        ahead: &mut NoiseAhead,
        parallelism: Parallelism,
    ) -> Result<Event, NoiseError> {
        self.add_ahead_on(values, ahead, |tasks, work| super::on_own_threads(parallelism, tasks, work))
    }

    /// As [`add_ahead`](Self::add_ahead), on the threads of the caller: `spread` is told how many threads are worth it and gets work
    /// that any number of them may call at once, at least one. Whatever is left when `spread` returns is done here.
    ///
    /// # Guarantee
    /// As [`add_ahead`](Self::add_ahead).
    ///
    /// # Reference
    /// `proof.md`.
    ///
    /// # Errors
    /// As [`add_ahead`](Self::add_ahead).
    pub fn add_ahead_on(
        &self,
        values: &mut [f32],
        ahead: &mut NoiseAhead,
        spread: impl FnOnce(usize, &(dyn Fn() + Sync)),
    ) -> Result<Event, NoiseError> {
        super::check_length(self.length, values.len())?;
        ahead.check_fresh(ahead.cells.len() == self.length)?;
        ahead.take_call(&BulkNoise::Gaussian(*self))?;
        ahead.fresh_in = None;
        let pieces = Mutex::new(values.chunks_mut(PIECE).zip(ahead.cells.chunks_mut(PIECE)));
        let next = || pieces.lock().unwrap_or_else(PoisonError::into_inner).next();
        let work = || {
            while let Some((values, cells)) = next() {
                add_cells(values, cells, self.step);
            }
        };
        spread(self.length.div_ceil(THREAD_WORTH).max(1), &work);
        work();
        Ok(self.event())
    }

    /// Draws the noise of one call that `ahead` has the right to and adds it, piece by piece, with no memory for all of it. Nothing need
    /// be drawn before. `spread` is as in [`add_ahead_on`](Self::add_ahead_on).
    ///
    /// # Guarantee
    /// That of [`add_noise`](Self::add_noise).
    ///
    /// # Reference
    /// `proof.md`.
    ///
    /// # Errors
    /// [`NoiseError::Invalid`] when `values` does not have the declared length, [`NoiseError::Unpaid`] when all calls that were paid for
    /// have been made, or other noise was paid for, [`NoiseError::Entropy`] when the operating system provides no randomness. Nothing is
    /// changed then.
    pub fn add_now_on(
        &self,
        values: &mut [f32],
        ahead: &mut NoiseAhead,
        spread: impl FnOnce(usize, &(dyn Fn() + Sync)),
    ) -> Result<Event, NoiseError> {
        super::check_length(self.length, values.len())?;
        let mut own = Stream::new(&mut Entropy::new()?);
        ahead.take_call(&BulkNoise::Gaussian(*self))?;
        let pieces = Mutex::new(values.chunks_mut(PIECE));
        let next = || pieces.lock().unwrap_or_else(PoisonError::into_inner).next();
        let work = |stream: &mut Stream| {
            while let Some(piece) = next() {
                add_noise_to(piece, self.step, stream);
            }
        };
        spread(self.length.div_ceil(THREAD_WORTH).max(1), &|| {
            // A thread without randomness leaves its pieces to the others.
            if let Ok(mut entropy) = Entropy::new() {
                work(&mut Stream::new(&mut entropy));
            }
        });
        work(&mut own);
        Ok(self.event())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use reticent_core::{NoiseMultiplier, Plan, SamplingRate, Scale, Sensitivity, Unlimited, charge};

    fn bulk(length: usize) -> BulkGaussian {
        BulkGaussian::new(Sensitivity::new(1.0).unwrap(), Scale::new(2.0).unwrap(), length).unwrap()
    }

    fn ahead(bulk: &BulkGaussian, count: u64) -> NoiseAhead {
        let event = Event::Repeated { count, event: Box::new(bulk.event()) };
        let mut permit = charge(&mut Unlimited::new(), &Plan::new(vec![event.clone()]).unwrap()).unwrap();
        assert!(matches!(NoiseAhead::new(bulk, &mut permit, &bulk.event()), Ok(NoiseAhead { calls: 1, .. })));
        let mut permit = charge(&mut Unlimited::new(), &Plan::new(vec![event.clone()]).unwrap()).unwrap();
        let ahead = NoiseAhead::new(bulk, &mut permit, &event).unwrap();
        assert!(matches!(NoiseAhead::new(bulk, &mut permit, &event), Err(NoiseError::Unpaid)));
        ahead
    }

    #[test]
    fn it_has_the_same_spread_on_any_number_of_threads() {
        let bulk = bulk(400_000);
        let mut ahead = ahead(&bulk, 2);
        for threads in [1, 3] {
            let mut values = vec![3.0f32; 400_000];
            let drawing = bulk.draw_ahead(&mut ahead);
            std::thread::scope(|scope| {
                for _ in 1..threads {
                    scope.spawn(|| drawing.help().unwrap());
                }
            });
            drawing.finish().unwrap();
            assert_eq!(
                bulk.add_ahead(&mut values, &mut ahead, Parallelism { threads }).unwrap(),
                bulk.event()
            );
            let n = values.len() as f64;
            let mean = values.iter().map(|v| f64::from(*v)).sum::<f64>() / n;
            let variance = values.iter().map(|v| (f64::from(*v) - mean).powi(2)).sum::<f64>() / n;
            // Seven standard errors.
            assert!((mean - 3.0).abs() < 7.0 * 2.0 / n.sqrt(), "{mean}");
            assert!((variance - 4.0).abs() < 7.0 * 4.0 * (2.0 / n).sqrt(), "{variance}");
        }
    }

    #[test]
    fn whatever_the_callers_threads_leave_is_done() {
        let bulk = bulk(100_000);
        let mut ahead = ahead(&bulk, 2);
        for is_idle in [true, false] {
            let mut values = vec![0.0f32; 100_000];
            bulk.draw_ahead(&mut ahead).finish().unwrap();
            let spread = |tasks: usize, work: &(dyn Fn() + Sync)| {
                assert_eq!(tasks, 4);
                if !is_idle {
                    std::thread::scope(|scope| (0..tasks).for_each(|_| drop(scope.spawn(work))));
                }
            };
            bulk.add_ahead_on(&mut values, &mut ahead, spread).unwrap();
            assert!(values.iter().all(|value| *value != 0.0));
            assert!(ahead.cells.iter().all(|cell| *cell == 0));
        }
    }

    #[test]
    fn noise_that_is_drawn_as_it_is_added_has_the_same_spread_and_serves_what_is_paid_for() {
        let bulk = bulk(400_000);
        let mut ahead = ahead(&bulk, 3);
        let mut found = Vec::new();
        for threads in [1, 3, 0] {
            let mut values = vec![3.0f32; 400_000];
            values[7] = f32::INFINITY;
            let spread = |tasks: usize, work: &(dyn Fn() + Sync)| {
                assert!(tasks > 3);
                std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
            };
            assert_eq!(bulk.add_now_on(&mut values, &mut ahead, spread).unwrap(), bulk.event());
            assert!(values[7].abs() < 100.0 && values[7] != 0.0);
            values[7] = 3.0;
            let n = values.len() as f64;
            let mean = values.iter().map(|v| f64::from(*v)).sum::<f64>() / n;
            let variance = values.iter().map(|v| (f64::from(*v) - mean).powi(2)).sum::<f64>() / n;
            // Seven standard errors.
            assert!((mean - 3.0).abs() < 7.0 * 2.0 / n.sqrt(), "{mean}");
            assert!((variance - 4.0).abs() < 7.0 * 4.0 * (2.0 / n).sqrt(), "{variance}");
            found.push(values);
        }
        // Pieces and calls have noise of their own.
        let covariance = |one: &[f32], other: &[f32]| {
            let products = one.iter().zip(other).map(|(a, b)| (f64::from(*a) - 3.0) * (f64::from(*b) - 3.0));
            products.sum::<f64>() / one.len() as f64
        };
        let allowed = 7.0 * 4.0 / 200_000f64.sqrt();
        assert!(covariance(&found[0], &found[1]).abs() < allowed);
        assert!(covariance(&found[1][..200_000], &found[1][200_000..]).abs() < allowed);
        let before = found[0].clone();
        assert_eq!(bulk.add_now_on(&mut found[0], &mut ahead, |_, _| {}), Err(NoiseError::Unpaid));
        assert!(bulk.add_now_on(&mut found[0][1..], &mut ahead, |_, _| {}).is_err());
        assert_eq!(found[0], before);
    }

    #[test]
    fn it_serves_once_and_is_erased() {
        let (bulk, parallelism) = (bulk(100), Parallelism { threads: 1 });
        let mut ahead = ahead(&bulk, 1);
        let mut values = [0.0f32; 100];
        assert!(bulk.add_ahead(&mut values, &mut ahead, parallelism).is_err());
        bulk.draw_ahead(&mut ahead).help().unwrap();
        assert!(!ahead.is_fresh());
        bulk.draw_ahead(&mut ahead).finish().unwrap();
        assert!(bulk.add_ahead(&mut values[..99], &mut ahead, parallelism).is_err());
        assert!(ahead.is_fresh());
        values[0] = f32::NAN;
        bulk.add_ahead(&mut values, &mut ahead, parallelism).unwrap();
        assert!(values.iter().all(|v| v.is_finite() && *v != 0.0));
        assert!(ahead.cells.iter().all(|cell| *cell == 0));
        let before = values;
        assert!(bulk.add_ahead(&mut values, &mut ahead, parallelism).is_err());
        assert_eq!(values, before);
        bulk.draw_ahead(&mut ahead).finish().unwrap();
        assert_eq!(bulk.add_ahead(&mut values, &mut ahead, parallelism), Err(NoiseError::Unpaid));
        assert_eq!(values, before);
    }

    #[test]
    fn events_in_sequence_pay_for_their_calls() {
        let (own, parallelism) = (bulk(8), Parallelism { threads: 1 });
        let often = |count: u64, rate: f64| {
            let event = Box::new(own.event());
            let sampled = Event::PoissonSampled { rate: SamplingRate::new(rate).unwrap(), event };
            Event::Repeated { count, event: Box::new(sampled) }
        };
        let paid =
            |events: &[Event]| charge(&mut Unlimited::new(), &Plan::new(events.to_vec()).unwrap()).unwrap();
        let events = [often(2, 0.25), often(1, 0.5)];
        let mut permit = paid(&events);
        let mut ahead = NoiseAhead::in_sequence(&own, &mut permit, &events).unwrap();
        assert!(permit.is_used_up());
        for _ in 0..3 {
            own.draw_ahead(&mut ahead).finish().unwrap();
            own.add_ahead(&mut [0.0; 8], &mut ahead, parallelism).unwrap();
        }
        own.draw_ahead(&mut ahead).finish().unwrap();
        assert_eq!(own.add_ahead(&mut [0.0; 8], &mut ahead, parallelism), Err(NoiseError::Unpaid));
        // An event that nobody paid for, and one of more noise than there is.
        let more = Event::Gaussian { noise_multiplier: NoiseMultiplier::new(2.5).unwrap() };
        for (asked, charged) in [
            ([often(2, 0.25), often(1, 0.5)], vec![often(2, 0.25)]),
            ([often(2, 0.25), often(1, 0.5)], vec![often(3, 0.25)]),
            ([often(2, 0.25), more.clone()], vec![often(2, 0.25), more]),
        ] {
            let refused = NoiseAhead::in_sequence(&own, &mut paid(&charged), &asked);
            assert!(matches!(refused, Err(NoiseError::Unpaid)), "{asked:?}");
        }
    }

    #[test]
    fn one_event_pays_for_calls_together() {
        let (own, parallelism) = (bulk(8), Parallelism { threads: 1 });
        let paid =
            |event: &Event| charge(&mut Unlimited::new(), &Plan::new(vec![event.clone()]).unwrap()).unwrap();
        let gaussian = |z: f64| Event::Gaussian { noise_multiplier: NoiseMultiplier::new(z).unwrap() };
        let event = gaussian(0.5);
        let mut ahead = NoiseAhead::together(&own, &mut paid(&event), &event, 2).unwrap();
        for _ in 0..2 {
            own.draw_ahead(&mut ahead).finish().unwrap();
            own.add_ahead(&mut [0.0; 8], &mut ahead, parallelism).unwrap();
        }
        own.draw_ahead(&mut ahead).finish().unwrap();
        assert_eq!(own.add_ahead(&mut [0.0; 8], &mut ahead, parallelism), Err(NoiseError::Unpaid));
        // More than one call has, another kind, and what nobody paid for.
        let often = Event::Repeated { count: 2, event: Box::new(event.clone()) };
        for (asked, charged) in
            [(gaussian(2.1), gaussian(2.1)), (often.clone(), often), (event, gaussian(0.4))]
        {
            let refused = NoiseAhead::together(&own, &mut paid(&charged), &asked, 2);
            assert!(matches!(refused, Err(NoiseError::Unpaid)), "{asked:?}");
        }
    }

    #[test]
    fn it_is_for_the_noise_that_was_paid_for() {
        let (own, parallelism) = (bulk(8), Parallelism { threads: 1 });
        let paid =
            |event: &Event| charge(&mut Unlimited::new(), &Plan::new(vec![event.clone()]).unwrap()).unwrap();
        let nothing = Event::Pure { epsilon: reticent_core::Epsilon::new(0.0).unwrap() };
        let often = Event::Repeated { count: 1 << 60, event: Box::new(nothing) };
        assert!(matches!(NoiseAhead::new(&own, &mut paid(&often), &often), Err(NoiseError::Unpaid)));
        let weaker = BulkGaussian::new(Sensitivity::new(2.0).unwrap(), Scale::new(2.0).unwrap(), 8).unwrap();
        let event = own.event();
        assert!(matches!(NoiseAhead::new(&weaker, &mut paid(&event), &event), Err(NoiseError::Unpaid)));
        let Event::Gaussian { noise_multiplier } = event else { panic!() };
        let rate = reticent_core::SamplingRate::new(0.5).unwrap();
        let clipped = Box::new(Event::ClippedSum { noise_multiplier });
        for event in [own.event(), Event::PoissonSampled { rate, event: clipped }] {
            let mut ahead = NoiseAhead::new(&own, &mut paid(&event), &event).unwrap();
            let mut values = [0.0f32; 8];
            weaker.draw_ahead(&mut ahead).finish().unwrap();
            assert_eq!(weaker.add_ahead(&mut values, &mut ahead, parallelism), Err(NoiseError::Unpaid));
            assert_eq!(values, [0.0; 8]);
            own.add_ahead(&mut values, &mut ahead, parallelism).unwrap();
        }
    }
}
