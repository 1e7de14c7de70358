use super::*;

fn noise(z: f64) -> Event {
    Event::Gaussian { noise_multiplier: NoiseMultiplier::new(z).unwrap() }
}

fn sum(z: f64) -> Event {
    Event::ClippedSum { noise_multiplier: NoiseMultiplier::new(z).unwrap() }
}

fn sampled(rate: f64, event: Event) -> Event {
    Event::PoissonSampled { rate: SamplingRate::new(rate).unwrap(), event: Box::new(event) }
}

fn bins(event: Event) -> Event {
    Event::BallsInBins { bins: 10, epochs: 1, event: Box::new(event) }
}

fn rules(event: &Event, neighboring: Neighboring) -> Vec<BatchRule> {
    batch_rules(event, neighboring).collect()
}

#[test]
fn batches_are_found_inside_every_kind_that_holds_events() {
    let shuffled = Event::Shuffled { steps_per_epoch: 10, epochs: 1, event: Box::new(noise(1.0)) };
    let holders = [
        sampled(0.5, shuffled.clone()),
        Event::SampledWithoutReplacement {
            dataset_size: 10,
            batch_size: 2,
            event: Box::new(shuffled.clone()),
        },
        Event::Repeated { count: 2, event: Box::new(shuffled.clone()) },
        Event::TruncatedPoisson {
            dataset_size: 10,
            rate: SamplingRate::new(0.5).unwrap(),
            max_batch: 5,
            event: Box::new(shuffled.clone()),
        },
        bins(shuffled.clone()),
        Event::RepeatAndSelect { mean: 2.0, shape: 1.0, event: Box::new(shuffled.clone()) },
        Event::Composed { events: vec![noise(1.0), shuffled.clone()] },
        Event::Parallel { events: vec![noise(1.0), shuffled.clone()] },
    ];
    for holder in holders {
        let found = rules(&holder, Neighboring::AddRemove);
        assert!(found.contains(&BatchRule::Shuffled), "{holder:?}");
    }
    assert_eq!(rules(&noise(1.0), Neighboring::AddRemove), []);
}

#[test]
fn bins_are_amplified_where_the_account_says_so() {
    let is_amplified = |event: Event, neighboring| {
        rules(&bins(event), neighboring) == [BatchRule::BallsInBins { is_amplified: true }]
    };
    assert!(is_amplified(noise(1.0), Neighboring::AddRemove));
    assert!(is_amplified(sum(1.0), Neighboring::AddRemove));
    assert!(!is_amplified(noise(1.0), Neighboring::ReplaceOne));
    assert!(!is_amplified(sum(1.0), Neighboring::ReplaceOne));
    assert!(!is_amplified(Event::Pure { epsilon: Epsilon::new(1.0).unwrap() }, Neighboring::AddRemove));
}

#[test]
fn sampled_gaussian_noise_is_told_with_its_rate() {
    let found = |event: &Event, neighboring| {
        sampled_gaussian(event, neighboring).map(|(rate, noise)| (rate.get(), noise.get()))
    };
    let (add, replace) = (Neighboring::AddRemove, Neighboring::ReplaceOne);
    assert_eq!(found(&noise(2.0), add), Some((1.0, 2.0)));
    assert_eq!(found(&sum(2.0), add), Some((1.0, 2.0)));
    assert_eq!(found(&sum(2.0), replace), Some((1.0, 1.0)));
    assert_eq!(found(&sampled(0.1, sum(2.0)), add), Some((0.1, 2.0)));
    assert_eq!(found(&sampled(0.1, sum(2.0)), replace), None);
    // A sample of a sample is neither of the two.
    assert_eq!(found(&sampled(0.1, sampled(0.2, noise(2.0))), add), None);
    assert_eq!(found(&Event::Repeated { count: 2, event: Box::new(noise(2.0)) }, add), None);
}
