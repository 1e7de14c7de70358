//! `reticent attack federated`: flags to a request.

use crate::Output;
use crate::args::federated::{Active, Federated};
use crate::audit::answer;
use crate::audit::request::{count, statement};
use crate::fail::Fail;
use crate::{network, read};
use reticent::curator::audit::{ActiveChoice, Audit, FederatedAudit, RECORDS, THREADS, round_sets};

/// Attacks parties that trained together.
pub(super) fn run(arguments: &Federated, progress: bool) -> Result<Output, Fail> {
    let request = Audit::Federated(request(arguments)?);
    answer(&request, arguments.statement.plot.as_deref(), arguments.json, progress)
}

fn request(flags: &Federated) -> Result<FederatedAudit, Fail> {
    let whole = |flag: &str, text: &Option<String>| {
        text.as_deref().map(|text| read::whole(flag, text, u32::MAX.into())).transpose()
    };
    Ok(FederatedAudit {
        model: flags.run.clone(),
        observer: flags.observer.clone(),
        victim: flags.victim.clone(),
        rounds: flags.rounds.as_deref().map(round_sets).transpose()?.unwrap_or_default(),
        active: flags.active.map(|how| match how {
            Active::Ascent => ActiveChoice::Ascent,
            Active::Isolate => ActiveChoice::Isolate,
        }),
        rate: flags.rate.as_deref().map(|text| read::number("--rate", text)).transpose()?,
        ascent_steps: whole("--ascent-steps", &flags.ascent_steps)?,
        non_members: flags.non_members.clone(),
        records: count("--records", &flags.records, &RECORDS)?,
        threads: flags.threads.as_deref().map(|text| count("--threads", text, &THREADS)).transpose()?,
        device: network::device(&flags.computing)?.unwrap_or_default(),
        chunk: network::chunk(&flags.computing)?,
        statement: statement(&flags.statement)?,
        out: flags.out.clone(),
    })
}
