//! The help below the flags of `train`, `predict`, `evaluate` and `sample`.

pub(crate) const TRAIN: &str = "\
LINEAR MODELS (tables). Calibrated noise hides the influence of any single row on the weights. Features are computed from \
the public schema alone (values are clamped to its bounds, categories it does not list become \"other\"), never from the \
data. docs/design.md describes the schema; 'reticent schema infer' drafts one. If the privacy unit is a column, each user \
becomes one row: the mean of their features and their most frequent label.

Methods. output: noise on the optimal weights. objective: noise in the objective function. gradient: noise on every step of \
gradient descent (needs --delta); sgd: the same on Poisson-sampled batches. auto takes the method with the best proven bound \
for the public numbers. The methods named after papers are the published algorithms, for comparison.

A fifth of the rows is held out by a keyed hash, and the accuracy on them is released with noise. Each row is in only one of \
the two parts, so the test costs no additional privacy. The two \"±\" are the effects of the noise and of sampling the test \
rows. The certificate covers everything that is printed and saved, except scores on a test table (--test, or the test split \
of a dataset), which are exact.

  reticent train --epsilon 1
    (the bundled census records: predict whether income exceeds 50,000 dollars)
  reticent train people.csv --schema schema.toml --epsilon 1 --delta 1e-8 --out model
  reticent train people.csv --schema schema.toml --method exact
    (not private: the accuracy a model without privacy would reach)

NETWORKS (DP-SGD). A network is trained if the file is a run.toml, if --model names one, or if the data are images or texts. \
Each step samples every row with probability batch size / dataset size, clips its gradient to norm C, adds Gaussian noise \
proportional to C, and updates the weights; the accountant composes all steps. --epsilon and --delta determine the noise \
multiplier (or --noise-multiplier determines epsilon). The settings that matter most: larger batches, more epochs, a learning \
rate of about 1 / C, a smaller C.

Public inputs must not come from the private rows: the schema, the classes, the normalization constants of pixels, the \
vocabulary, the values of the flags, and --dataset-size (without it, 2 % of epsilon pays for a noisy count). No \
vocabulary is made from the private texts, because their words reveal who wrote what: use one from a public corpus, or the \
built-in English words. --init, --vectors and --pretrain start from what is public, and stand in the certificate as such.

--out is the folder of the run: run.toml (everything needed to repeat it: 'reticent train run.toml'), the model, \
certificate.json, metrics.jsonl and a checkpoint. Ctrl-C saves the run and --resume continues it; every step that may have \
been observed stays counted. --finish ends a stopped run so that its model can be used: with the epsilon of all planned steps, \
or only of the steps taken if --stopped-by says that the stop did not depend on the run's results. Scores are computed on \
--validation (or the test split of a dataset), which is public and NOT protected. No score on the private rows is printed.

--device cuda trains on the first NVIDIA GPU, with the same guarantee. It needs the driver, libnvrtc and libcublas, which are \
looked for when the command runs. The device is not part of the run: resume it with or without --device. \
docs/how-to/train-on-a-gpu.md says what is claimed there.

  reticent train mnist --epsilon 3 --delta 1e-5 --dataset-size 60000 --out runs/mnist
    (images: a folder of idx files or CIFAR-10, or the name of a dataset; mnist, fashion-mnist\n     and cifar10 have recipes on ScatterNet features: docs/training.md lists them)
  reticent train people.csv --schema schema.toml --model mlp --epsilon 1 --delta 1e-6 \\
      --out runs/people
    (a table; a schema whose unit is a column protects whole users)
  reticent train sms.csv --text-column text --label kind --classes ham,spam --epsilon 3 --delta 1e-5 \\
      --out runs/sms
    (texts: lower-cased words and punctuation marks are the tokens)
  reticent train sms.csv --text-column text --label kind --classes ham,spam --init public-run \\
      --init-public --freeze 0 --epsilon 3 --delta 1e-5 --out runs/sms
    (from the weights of a run on public texts, the first layer frozen)
  reticent train speeches.parquet --text-column text --tokens characters --length 64 --model lstm-lm \\
      --optimizer adam --lr 0.005 --epsilon 8 --delta 1e-5 --out runs/speeches
    (a language model: every text is cut into pieces, and the row is the unit, or the column that a schema names)
  reticent train --resume runs/mnist --device cuda
    (the rest of the run on a GPU)";

pub(crate) const TUNE: &str = "\
Draws a random number of trials. Each draws settings at random, trains a network with privacy and scores it on held-out rows, with \
noise; the model with the best score is kept. --epsilon and --delta are the budget of the whole search, and every trial has the \
noise that this needs: that of about half the epsilon or less (Papernot and Steinke 2022). The certificate states the event \
repeat_and_select.

Nothing about the other trials is printed or stored, not even how many there were: that number is part of what keeps the cost low. \
The running time tells it, so do not publish how long the search took. A search that is stopped or killed has spent its whole \
epsilon, and nothing is kept. The score of the best trial is the largest of several, so it is too good on average.

Epochs or steps and the batch size change what a trial costs. They are searched as lists, under add-remove and with at most 16 \
combinations, each of which has its own noise multiplier.

Trials are private trainings from random weights with Gaussian noise. A search refuses public starting weights (--init, \
--vectors, --pretrain), Student-t noise (--noise), ending early (--patience), cyclic batches (--batching) and batches that grow \
(--batch-growth).

  reticent tune people.csv --schema schema.toml --model mlp --epsilon 3 --delta 1e-6 \\
      --search \"lr=0.1..4 log, clip=0.1|0.5|1\" --out tuned
  reticent tune mnist --model cnn-mnist-tanh --epsilon 3 --delta 1e-5 --dataset-size 54000 \\
      --batch-size 1024 --trials 5 --search \"lr=0.5..8 log\" --out tuned";

pub(crate) const PREDICT: &str = "\
One line per row: the predicted label and, for logistic models of two classes, the probability of the positive class. Rows \
are predicted one by one, even if the model was trained on users. Predictions use only the released weights, so they cost no \
further privacy of the training data.

A network predicts from the kind of data it was trained on: a table, texts, a folder of images or one idx file of images. The \
probability is that of the positive class if the schema names one, else of the predicted class.

  reticent predict model new.csv --out predictions.csv
  reticent predict runs/mnist mnist --part test";

pub(crate) const EVALUATE: &str = "\
Accuracy, AUC, and recall and precision of every class; for a language model, the perplexity per token. The numbers are exact, so they do not protect the rows of the table \
you evaluate on: share them only with people who may see that table.

  reticent evaluate model test.parquet --json
  reticent evaluate runs/mnist mnist";

pub(crate) const SAMPLE: &str = "\
Draws texts from a language model, token by token, until the model ends the text or --tokens is reached. The texts use only the \
released weights, so they cost no further privacy of the training data. A model that was trained without privacy may repeat its \
training texts word for word.

The tokens are those of the training: characters, or words of its vocabulary. The model sees as many tokens before the next one as \
--length of the training says. Unknown tokens are never drawn. Two calls give different texts, except with --temperature 0.

  reticent sample runs/speeches --prompt \"To be\" --tokens 100 --temperature 0.7
  reticent sample runs/speeches --count 5 --top-k 10 --json";
