//! The help below the flags of `train`, `predict` and `evaluate`.

pub(crate) const TRAIN: &str = "\
LINEAR MODELS (tables). A linear model is a weight for every feature. Noise, calibrated by a proof, hides what any one row did to \
those weights. Nothing else leaks: features are made from the public schema alone (values are clamped to its \
bounds, labels it does not list become \"other\"), and never from the data. See docs/design.md for the \
form of a schema, or draft one with 'reticent schema infer'. With a column as the unit, each user becomes one \
row: the mean of their features and their most frequent label.

Methods. output: noise on the best weights. objective: noise in what is minimised. gradient: noise on \
every step of a descent (needs --delta); sgd: the same on random samples. auto takes the one with the best \
proven bound of its kind for the public numbers. The years name the published forms, for comparison.

A fifth of the rows is held out by a keyed hash, and the accuracy on it is released with noise: a row is \
in one of the two parts, so testing costs nothing on top. Two \"±\" say what the noise and what the choice of rows \
(sampling) may have changed. The certificate covers everything that is printed \
and saved, except scores on a test table (--test, or the official one of a dataset), which are exact.

  reticent train --epsilon 1
    (the bundled census records: who earns more than 50,000 dollars?)
  reticent train people.csv --schema schema.toml --epsilon 1 --delta 1e-8 --out model
  reticent train people.csv --schema schema.toml --method exact
    (what a model without privacy would reach; for your eyes only)

NETWORKS. A network is trained when the file is a run.toml, when --model names one, or when the data are images \
or texts. Every step takes each row with the same small probability (batch size / size), cuts its gradient to \
length C, adds noise in proportion to C, and moves the weights; the accountant adds up what all steps tell \
about any one row. --epsilon and --delta settle the noise (or --noise-multiplier the epsilon). The most useful numbers to \
vary: larger batches, more epochs, a learning rate of the size of 1 / C, a smaller C.

What is public, and so must not come from the private rows: the schema, the classes, the constants for pixels, \
the vocabulary, the numbers in the flags, and --dataset-size (without it, 2 % of epsilon counts the rows). A vocabulary \
is not made for you: the set of words in private texts tells who wrote what. Take one from a public corpus.

--out is the run's folder: run.toml (all that is needed to repeat it: 'reticent train run.toml'), the model, \
certificate.json, metrics.jsonl and a checkpoint. Ctrl-C stores the run; --resume goes on with it, and \
every step that may have been seen stays counted. --finish ends a stopped run and makes its model usable: with the \
epsilon of all steps, or of those taken if --stopped-by says that the stop did not depend on what the run showed. Scores are computed on --validation (or the official test part of a \
dataset), which is taken as public and NOT protected. No score on the private rows is printed.

  reticent train mnist --model cnn-mnist-tanh --epsilon 3 --delta 1e-5 --dataset-size 60000 \\
      --batch-size 1024 --lr 2 --clip 0.2 --out runs/mnist
    (images: a folder of idx files or CIFAR-10, or a dataset's name)
  reticent train people.csv --schema schema.toml --model mlp --epsilon 1 --delta 1e-6 --out runs/people
    (a table; a schema whose unit is a column protects whole users)
  reticent train sms.csv --text-column text --label kind --classes ham,spam --vocabulary words.txt \\
      --length 48 --model lstm-text --optimizer adam --lr 0.01 --epsilon 3 --delta 1e-5 --out runs/sms
    (texts: lower-cased words and punctuation are tokens)
  reticent train --resume runs/mnist";

pub(crate) const PREDICT: &str = "\
One line per row: the predicted label, and for logistic models of two classes the probability of the positive \
one. Rows are taken one by one, also where the model was trained on users. Predictions are made from \
released weights, so they cost no further privacy of the training rows.

A network's folder predicts from what it was trained on: a table, texts, a folder of images or one idx \
file of images. The probability is that of the positive class where a schema names one, else of the predicted class.

  reticent predict model new.csv --out predictions.csv
  reticent predict runs/mnist mnist --part test";

pub(crate) const EVALUATE: &str = "\
Accuracy, AUC and every class, computed exactly: the numbers protect nobody in the table you give. They \
are for whoever holds it.

  reticent evaluate model test.parquet --json
  reticent evaluate runs/mnist mnist";
