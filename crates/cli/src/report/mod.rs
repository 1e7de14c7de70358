//! `reticent report`: an audit and a certificate as one page.

mod open;

pub(crate) use open::open;

use crate::Output;
use crate::args::audit::Report;
use crate::fail::Fail;
use crate::learn;
use crate::text::json_line;
use reticent::curator::report::Report as Request;

/// The request of the flags.
pub(crate) fn request(arguments: &Report) -> Request {
    Request {
        folder: arguments.folder.clone(),
        declared: arguments.declared.clone(),
        certificate: arguments.certificate.clone(),
        out: arguments.out.clone(),
        pictures: arguments.pictures,
        compare: arguments.compare.clone(),
        command: Some(std::env::args().collect::<Vec<_>>().join(" ")),
    }
}

/// Writes the page and its JSON.
pub(crate) fn report(arguments: &Report) -> Result<Output, Fail> {
    let written = learn::run(&request(arguments), false)?;
    let warnings = match arguments.open {
        true => open(&written.html),
        false => String::new(),
    };
    let stdout = match arguments.json {
        true => json_line(&written)?,
        false => {
            let chart = written.chart.as_ref();
            let chart =
                chart.map_or_else(String::new, |chart| format!("Curves written to {}\n", chart.display()));
            let (html, json) = (written.html.display(), written.json.display());
            format!("Report written to {html}\nJSON written to {json}\n{chart}")
        }
    };
    Ok(Output { stdout, warnings, ..Output::default() })
}
