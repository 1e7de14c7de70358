//! `reticent attack attribute`: flags to the request.

use super::disclosed::shown;
use crate::Output;
use crate::args::audit::Attribute;
use crate::audit::request::count;
use crate::fail::Fail;
use crate::learn;
use crate::read::number;
use reticent::curator::audit as curator;
use reticent::curator::audit::{ATTRIBUTE_RECORDS, ATTRIBUTE_REFERENCES};

/// Guesses a column with and without the model.
pub(crate) fn run(arguments: &Attribute, progress: bool) -> Result<Output, Fail> {
    let stated = &arguments.stated;
    let request = curator::Attribute {
        model: arguments.run.clone(),
        column: arguments.column.clone(),
        non_members: arguments.non_members.clone(),
        records: count("--records", &arguments.records, &ATTRIBUTE_RECORDS)?,
        references: count("--references", &arguments.references, &ATTRIBUTE_REFERENCES)?,
        confidence: number("--confidence", &stated.confidence)?,
        key: arguments.key.clone(),
        out: stated.out.clone(),
    };
    shown(&learn::run(&request, progress && !stated.json)?, stated.json)
}
