//! Part 1: a private statistic.

use super::call::Call;
use super::data::{COLUMN, Data};
use super::recipe::STATISTIC_EPSILON;
use super::{Halt, Tour};
use crate::digits;
use crate::explain::Code;
use crate::fail::Fail;
use reticent::core::Guarantee;
use reticent::curator::release::{ReleasedAnswer, ReleasedValue};
use reticent::report::story::{Promise, Statistic, surer};

pub(super) fn tell(tour: &mut Tour, data: &Data) -> Result<Statistic, Halt> {
    tour.narrator.title("1  A private statistic")?;
    tour.narrator.say(&format!(
        "How old are these {} people on average? Noise in the answer hides every single one of them. ε bounds how much the answer \
         can reveal about one person: at ε = {STATISTIC_EPSILON}, an attacker who knows everyone else and starts at 50:50 on whether \
         one more person is in the table can be at most {} sure afterwards. Smaller is more private.",
        data.rows,
        surer(STATISTIC_EPSILON.parse().unwrap_or(f64::INFINITY))
    ))?;
    let call = Call::new("release mean")
        .word(&tour.table("adult.parquet"))
        .words("--column")
        .word(COLUMN)
        .words("--bounds 17,90")
        .flag("--epsilon", STATISTIC_EPSILON);
    let request = call.release()?;
    let released = tour.waiting("computing the mean", |tour| tour.ask(&request, false))?;
    tour.note(&released.warnings);
    let ReleasedAnswer {
        found: ReleasedValue::Number { value, interval, .. }, confidence, certificate, ..
    } = released
    else {
        return Err(Fail::new(Code::Internal, format!("{}: no number", call.shown())).into());
    };
    let Guarantee { epsilon, delta } = certificate.guarantee;
    let statistic = Statistic {
        what: format!("mean {COLUMN}"),
        value,
        interval,
        confidence,
        promise: Promise { epsilon: epsilon.get(), delta: delta.get() },
        exact: data.mean,
        rows: data.rows,
        command: call.shown(),
    };
    tour.narrator.table(&[vec![statistic.what.clone(), statistic.words(), statistic.promise.words()]])?;
    let verdict = match statistic.holds() {
        true => "the interval contains it",
        false => "the interval misses it this time, which happens in at most one of twenty runs",
    };
    tour.narrator.say(&format!(
        "These data are public, so we can check: the exact mean is {}, and {verdict}.",
        digits::brief(data.mean)
    ))?;
    tour.narrator.say("The same by hand:")?;
    tour.narrator.command(&statistic.command)?;
    Ok(statistic)
}
