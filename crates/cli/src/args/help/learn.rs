//! The help below the flags of `train`, `predict` and `evaluate`.

pub(crate) const TRAIN: &str = "\
A linear model is a weight for every feature. Noise, calibrated by a proof, hides what any one row did to \
those weights. Nothing else leaks: features are made from the public schema alone (values are clamped to its \
bounds, labels it does not list become \"other\"), and never from the data. See docs/design.md for the \
form of a schema, or draft one with 'reticent schema infer'. With a column as the unit, each user becomes one \
row: the mean of their features and their most frequent label.

Methods. output: noise on the best weights. objective: noise in what is minimised. gradient: noise on \
every step of a descent (needs --delta); sgd: the same on random samples. auto takes the one with the best \
proven bound of its kind for the public numbers. The years name the published forms, for comparison.

A fifth of the rows is held out by a keyed hash, and the accuracy on it is released with noise: a row is \
in one of the two parts, so testing costs nothing on top. The certificate covers everything that is printed \
and saved, except scores on a test table (--test, or the official one of a dataset), which are exact.

  reticent train --epsilon 1
    (the bundled census records: who earns more than 50,000 dollars?)
  reticent train people.csv --schema schema.toml --epsilon 1 --delta 1e-8 --out model
  reticent train people.csv --schema schema.toml --method exact
    (what a model without privacy would reach; for your eyes only)";

pub(crate) const PREDICT: &str = "\
One line per row: the predicted label, and for logistic models of two classes the probability of the positive \
one. Rows are taken one by one, also where the model was trained on users. Predictions are made from \
released weights, so they cost no further privacy of the training rows.

  reticent predict model new.csv --out predictions.csv";

pub(crate) const EVALUATE: &str = "\
Accuracy, AUC and every class, computed exactly: the numbers protect nobody in the table you give. They \
are for whoever holds it.

  reticent evaluate model test.parquet --json";
