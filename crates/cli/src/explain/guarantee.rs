//! Errors about limits of guarantees.

use super::Example;

pub(super) const UNSUPPORTED: Example = Example {
    files: &[(
        "sampled.json",
        "{\"neighboring\": \"replace-one\", \"events\": [{\"poisson_sampled\":\n  {\"rate\": 0.1, \"event\": {\"gaussian\": {\"noise_multiplier\": 1}}}}]}\n",
    )],
    wrong: "reticent account rdp --events sampled.json --orders 2",
    mended: "reticent account epsilon --events sampled.json --delta 1e-6",
};

pub(super) const RELATION: Example = Example {
    files: &[],
    wrong: "reticent train people.csv --schema schema.toml --method chaudhuri-2011 --epsilon 1",
    mended: "reticent train people.csv --schema schema.toml --method chaudhuri-2011 --epsilon 1 \
                 --neighboring replace-one",
};

pub(super) const KIND: Example = Example {
    files: &[],
    wrong: "reticent train people.csv --schema schema.toml --method kifer-2012 --epsilon 1 --delta 1e-100",
    mended: "reticent train people.csv --schema schema.toml --method objective --epsilon 1 --delta 1e-100",
};

pub(super) const UNREACHABLE: Example = Example {
    files: &[],
    wrong: "reticent account steps --noise-multiplier 0.5 --epsilon 0.001 --delta 1e-9",
    mended: "reticent account steps --noise-multiplier 2 --epsilon 1 --delta 1e-9 --sampling-rate 0.01",
};
