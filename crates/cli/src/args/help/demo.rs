//! The help below the flags of `demo`.

pub(crate) const DEMO: &str = "\
Five parts on bundled census records, with nothing to download: a private statistic with its confidence interval; three \
models, one of them not private; the privacy cost of the network by several accountants; an audit of an overfitted model and \
of its private twin; and one page with all results (demo/report.html). Every part shows the commands that do the same by hand.

The noise is fresh in every run, so the numbers differ from run to run. Ctrl-C stops the demo; the next run starts over. A \
folder that contains anything else is not touched.

  reticent demo
  reticent demo --out tour --open
  reticent demo --json";
