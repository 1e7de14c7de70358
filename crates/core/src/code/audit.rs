//! Errors about audits.

use super::Explanation;

pub(super) const NOT_MEASURABLE: Explanation = Explanation {
    title: "the records cannot answer the question",
    cause: "There are too few members or non-members, or the table lacks what every attack needs. Nothing is \
            wrong with the settings.",
    remedy: "Give more records, both members and non-members.",
};

pub(super) const PREMISE: Explanation = Explanation {
    title: "a model that these attacks are not about",
    cause: "An attack or a bound rests on a premise that does not hold here: attacks are on classifiers, \
            references leave out single rows, some canaries need a private run.",
    remedy: "Audit the model from a table of scores ('reticent audit --scores'), or choose another attack.",
};

pub(super) const REFERENCES: Explanation = Explanation {
    title: "references that are not trained",
    cause: "The references of all jobs must be there before they are collected, and some are missing or \
            broken.",
    remedy: "Run 'reticent attack fit' for the jobs that are left, with the same --references and --key.",
};

pub(super) const NO_AUDIT: Explanation = Explanation {
    title: "no findings of an audit",
    cause: "The folder holds no audit.json, or one that cannot be read.",
    remedy: "Run 'reticent audit' first; for a table of scores with --out.",
};

pub(super) const SCORES: Explanation = Explanation {
    title: "a column of scores or memberships without meaning",
    cause: "A table of scores needs a number for every record in the columns of scores, and 1 or 0 in the \
            column member.",
    remedy: "Correct the cell or the column that the message names.",
};
