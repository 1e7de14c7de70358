//! The help below the flags of `demo`.

pub(crate) const DEMO: &str = "\
Five parts on the bundled census records, with nothing to download: a private statistic with its interval; three models, \
one of them not private; what the training of the network cost by several accountants; an audit of an overfitted model and \
of its private twin; and a page with all of it (demo/report.html). Every part shows the commands that do the same by hand.

Noise is fresh in every run: the numbers differ from run to run. Ctrl-C stops it; a second run begins anew. A folder \
that another program filled is left alone.

  reticent demo
  reticent demo --out tour --open
  reticent demo --json";
