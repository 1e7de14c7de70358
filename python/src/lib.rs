//! The native module of the Python package: Python values become requests of the curator, and outcomes become Python values.
//!
//! | file | what it binds |
//! |---|---|
//! | `accounting` | questions about events |
//! | `budget` | budgets in memory and in files |
//! | `noise` | mechanisms on numbers and arrays |
//! | `data` | tables and images in memory |
//! | `curator` | releases, schemas, models, audits, reports |
//! | `convolution` | gradients of convolutions of other frameworks |
//! | `gpu` | noise on sums of other frameworks on a GPU |
//! | `team` | the threads of PyTorch |
//! | `training` | samples and noise for models of other frameworks |
//! | `page` | pages of statistics, and what is made of them |
//! | `call` | work without the interpreter's lock: progress and Ctrl-C |
//! | `error` | refusals as exceptions |
//!
//! Requests and outcomes cross as JSON, in the form of the command's `--json`; data cross as arrays. Nothing here decides anything
//! about privacy.

mod accounting;
mod budget;
mod call;
mod convolution;
mod curator;
mod data;
mod error;
mod gpu;
mod noise;
mod page;
mod team;
mod training;

use pyo3::prelude::*;

/// The functions that `reticent` is made of. Not for use by itself: names and forms may change.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<budget::Budget>()?;
    module.add_class::<data::Table>()?;
    module.add_class::<data::Pictures>()?;
    module.add_class::<page::PageRecords>()?;
    module.add_class::<convolution::ConvGradients>()?;
    module.add_class::<gpu::GpuSums>()?;
    module.add_class::<training::PrivateSteps>()?;
    for function in [
        wrap_pyfunction!(team::lend_threads, module)?,
        wrap_pyfunction!(accounting::account, module)?,
        wrap_pyfunction!(accounting::formula, module)?,
        wrap_pyfunction!(accounting::read_events, module)?,
        wrap_pyfunction!(accounting::verify, module)?,
        wrap_pyfunction!(accounting::import_opacus, module)?,
        wrap_pyfunction!(accounting::import_dp_event, module)?,
        wrap_pyfunction!(budget::manage_budget, module)?,
        wrap_pyfunction!(noise::perturb_reals, module)?,
        wrap_pyfunction!(noise::perturb_integers, module)?,
        wrap_pyfunction!(noise::randomize_answers, module)?,
        wrap_pyfunction!(noise::estimate_shares, module)?,
        wrap_pyfunction!(noise::choose, module)?,
        wrap_pyfunction!(noise::find_labels, module)?,
        wrap_pyfunction!(curator::release, module)?,
        wrap_pyfunction!(curator::preview, module)?,
        wrap_pyfunction!(page::page, module)?,
        wrap_pyfunction!(page::preview_page, module)?,
        wrap_pyfunction!(page::read_report, module)?,
        wrap_pyfunction!(page::suggest_limits, module)?,
        wrap_pyfunction!(page::page_html, module)?,
        wrap_pyfunction!(page::write_page, module)?,
        wrap_pyfunction!(curator::randomize, module)?,
        wrap_pyfunction!(curator::estimate, module)?,
        wrap_pyfunction!(curator::learn_schema, module)?,
        wrap_pyfunction!(curator::fit, module)?,
        wrap_pyfunction!(curator::train, module)?,
        wrap_pyfunction!(curator::resume, module)?,
        wrap_pyfunction!(curator::tune, module)?,
        wrap_pyfunction!(curator::predict, module)?,
        wrap_pyfunction!(curator::evaluate, module)?,
        wrap_pyfunction!(curator::sample, module)?,
        wrap_pyfunction!(curator::read_certificate, module)?,
        wrap_pyfunction!(curator::audit, module)?,
        wrap_pyfunction!(curator::attacks, module)?,
        wrap_pyfunction!(curator::attribute, module)?,
        wrap_pyfunction!(curator::plant_secrets, module)?,
        wrap_pyfunction!(curator::reconstruct, module)?,
        wrap_pyfunction!(curator::difference, module)?,
        wrap_pyfunction!(curator::coins, module)?,
        wrap_pyfunction!(curator::uniform, module)?,
        wrap_pyfunction!(curator::voids, module)?,
        wrap_pyfunction!(curator::roc, module)?,
        wrap_pyfunction!(curator::report, module)?,
        wrap_pyfunction!(error::explain, module)?,
    ] {
        module.add_function(function)?;
    }
    Ok(())
}
