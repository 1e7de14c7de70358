//! Batches that grow during a run, as a request asks for them.

use super::outcome::{GrowthSummary, StageSummary};
use super::request::Train;
use super::settings::Budget;
use crate::refusal::Refusal;
use reticent_train::BatchGrowth;

/// How batches grow, where what else the run says goes with that.
pub(super) fn settle(run: &Train, budget: Budget) -> Result<Option<BatchGrowth>, Refusal> {
    let Some(factor) = run.batch_growth else { return Ok(None) };
    for (refused, remedy) in [
        (
            budget == Budget::None,
            "without privacy there is no noise that larger batches would drown: leave it out",
        ),
        (run.federated.is_some(), "parties sample at one rate in every round: leave it out"),
        (
            run.batching.as_deref() == Some("cyclic"),
            "with ⟦batching⟧ cyclic all batches have one expected size: leave one of the two out",
        ),
        (
            run.clipping.as_deref() == Some("quantile"),
            "quantile clipping divides a step's sensitivity by the batch size: give another ⟦clipping⟧, or leave it out",
        ),
        (
            run.denoise.as_deref() == Some("wiener"),
            "⟦denoise⟧ wiener compares sums of different steps, which grow with the batch: give james-stein, or leave one of the two out",
        ),
    ] {
        if refused {
            return Err(Refusal::conflict("batch_growth", factor, remedy));
        }
    }
    Ok(Some(BatchGrowth::new(factor)?))
}

/// The growth of a run with batches of this size at first, of so many units; `steps` are those of a run with a growth. Where a noisy count
/// decided the sizes, a refusal would tell it without anyone paying for that: batches grow as far as they can then. What is agreed is put
/// into the request.
pub(super) fn agreed(
    run: &mut Train,
    asked: BatchGrowth,
    (batch, size): (u64, u64),
    steps: &dyn Fn(Option<BatchGrowth>) -> u64,
    is_counted: bool,
) -> Result<Option<BatchGrowth>, Refusal> {
    let is_within = |factor: u64| batch.saturating_mul(factor) <= size;
    let has_steps = |own: BatchGrowth| steps(Some(own)) >= own.factor;
    let (mut factor, mut growth) = (asked.factor, None);
    while factor > 1 && growth.is_none() {
        let own = BatchGrowth::new(factor)?;
        growth = (is_within(factor) && has_steps(own)).then_some(own);
        factor /= 2;
    }
    if growth != Some(asked) && !is_counted {
        let most =
            growth.map_or_else(|| "give ".to_owned(), |own| format!("give at most {}, or ", own.factor));
        let remedy = match is_within(asked.factor) {
            false => {
                let last = batch.saturating_mul(asked.factor);
                format!(
                    "the last batches would have {last} units, and there are {size}: {most}a smaller ⟦batch_size⟧"
                )
            }
            true => {
                let (stages, steps) = (asked.stages(), steps(Some(asked)));
                let least = asked.factor;
                format!(
                    "{stages} stages need at least {least} steps, and there are {steps}: {most}more ⟦epochs⟧ or ⟦steps⟧"
                )
            }
        };
        return Err(Refusal::value("batch_growth", asked.factor, remedy));
    }
    run.batch_growth = growth.map(|own| own.factor);
    Ok(growth)
}

/// Warns if batches grow less than was asked for.
pub(super) fn reduced(asked: Option<BatchGrowth>, agreed: Option<&GrowthSummary>) -> Option<String> {
    let (asked, found) = (asked?.factor, agreed.map_or(1, |own| own.factor));
    let what = if found == 1 { "do not grow".to_owned() } else { format!("grow by a factor of {found}") };
    (found != asked).then(|| {
        format!(
            "batches {what} instead of by {asked}: the noisy count and the number of steps allow no more; a smaller ⟦batch_size⟧ or more \
             ⟦epochs⟧ leave room"
        )
    })
}

/// The stages of a run of so many steps.
pub(super) fn summary(growth: BatchGrowth, batch: u64, steps: u64) -> GrowthSummary {
    let stage = |(steps, stage): (u64, u32)| StageSummary { batch_size: batch << stage, steps };
    let stages = growth.divided(steps).into_iter().zip(0..).map(stage).collect();
    GrowthSummary { factor: growth.factor, stages }
}

#[cfg(test)]
mod tests {
    use super::super::settings::settle as settle_run;
    use super::*;

    fn good() -> Train {
        Train { epsilon: Some(3.0), delta: Some(1e-6), batch_growth: Some(4), ..Train::default() }
    }

    #[test]
    fn what_does_not_go_together_is_refused() {
        let text = |text: &str| Some(text.to_owned());
        let four = BatchGrowth::new(4).unwrap();
        assert_eq!(settle_run(&mut good()).unwrap().growth, Some(four));
        for fine in [
            Train { neighboring: text("replace-one"), ..good() },
            Train { clipping: text("encoded"), noise: text("student-t"), ..good() },
            Train { denoise: text("james-stein"), ..good() },
        ] {
            assert_eq!(settle_run(&mut fine.clone()).unwrap().growth, Some(four), "{fine:?}");
        }
        let open = Train { epsilon: None, delta: None, non_private: Some(true), ..good() };
        for (bad, part) in [
            (open, "without privacy"),
            (Train { batching: text("cyclic"), ..good() }, "one expected size"),
            (Train { clipping: text("quantile"), ..good() }, "quantile clipping"),
            (Train { denoise: text("wiener"), ..good() }, "james-stein"),
            (Train { batch_growth: Some(0), ..good() }, "power of two"),
            (Train { batch_growth: Some(1), ..good() }, "leave it out"),
            (Train { batch_growth: Some(3), ..good() }, "power of two"),
            (Train { batch_growth: Some(1 << 17), ..good() }, "65536"),
        ] {
            let refusal = settle_run(&mut bad.clone()).unwrap_err();
            assert_eq!(refusal.field(), Some("batch_growth"), "{refusal}");
            assert!(refusal.to_string().contains(part), "{part}: {refusal}");
        }
    }

    #[test]
    fn growth_is_kept_within_the_units_and_the_steps() {
        let grown = |factor, sizes, steps: u64, is_counted| {
            let (mut run, asked) = (good(), BatchGrowth::new(factor).unwrap());
            agreed(&mut run, asked, sizes, &|_| steps, is_counted).map(|found| {
                assert_eq!(run.batch_growth, found.map(|own| own.factor));
                run.batch_growth
            })
        };
        assert_eq!(grown(4, (100, 400), 4, false).unwrap(), Some(4));
        let wide = grown(8, (100, 799), 100, false).unwrap_err();
        assert_eq!(wide.field(), Some("batch_growth"));
        assert!(wide.to_string().contains("800 units") && wide.to_string().contains("at most 4"), "{wide}");
        let alone = grown(2, (100, 199), 100, false).unwrap_err().to_string();
        assert!(!alone.contains("at most") && alone.contains("smaller"), "{alone}");
        let short = grown(8, (10, 800), 7, false).unwrap_err().to_string();
        assert!(
            short.contains("at least 8 steps, and there are 7") && short.contains("at most 4"),
            "{short}"
        );
        // A noisy count is told by no refusal.
        assert_eq!(grown(8, (100, 799), 100, true).unwrap(), Some(4));
        assert_eq!(grown(8, (10, 800), 7, true).unwrap(), Some(4));
        assert_eq!(grown(8, (100, 100), 100, true).unwrap(), None);
    }

    #[test]
    fn less_growth_than_asked_for_is_said() {
        let asked = BatchGrowth::new(8).unwrap();
        let found = |factor| reduced(Some(asked), Some(&summary(BatchGrowth::new(factor).unwrap(), 10, 100)));
        assert!(found(4).unwrap().contains("grow by a factor of 4 instead of by 8"));
        assert!(reduced(Some(asked), None).unwrap().contains("do not grow instead of by 8"));
        assert!(found(8).is_none() && reduced(None, None).is_none());
    }

    #[test]
    fn every_stage_sees_as_many_units() {
        let own = BatchGrowth::new(4).unwrap();
        let found = summary(own, 512, 700);
        let sizes: Vec<(u64, u64)> = found.stages.iter().map(|own| (own.batch_size, own.steps)).collect();
        assert_eq!((found.factor, sizes), (4, vec![(512, 400), (1024, 200), (2048, 100)]));
    }
}
