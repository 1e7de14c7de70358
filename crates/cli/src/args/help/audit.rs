//! The help below the flags of `audit`, `attack` and `report`.

pub(crate) const AUDIT: &str = "\
An audit plays the attacker: membership inference attacks score how much each record looks like training data, and the audit \
measures how often they are right. It reports two things. First, the true-positive rate of each attack at low false-positive \
rates: a fact about these attacks and these records. Second, if members were sampled at random, a lower bound on epsilon at \
the stated confidence: any claim of a smaller epsilon is wrong. An audit that finds little proves little, because a better \
attack may exist.

A MODEL OF THIS TOOL. Give the folder written by 'reticent train --out'. --references models are trained in the same way, each \
on a random half of the audited records (the other training data are in all of them), and the target is compared with the \
reference models that contained a record and those that did not. Reference models are kept: Ctrl-C loses nothing, and a second \
audit trains only the missing ones. With --references 0, the attacks use only the target's own loss. With --device cuda, networks \
are trained on an NVIDIA GPU, 4 at once unless --threads says otherwise.

BY AUTHOR. If the unit of the run is a column, such as the speaker of a text, the audit is about authors: a model is trained on all \
samples of an author or on none. --samples names fresh texts of the same authors, which no model is trained on; without it the attacks \
ask about the training texts themselves. --samples-per-author says how many texts of each the auditor has.

ANY OTHER MODEL. Give a table with the columns score (larger means more like a member) and member (0 or 1), or with \
probability_0, probability_1, … (or logit_0, …), label and member. Optional columns: id, user, feature_…, columns named by \
--groups, and reference models as reference_K and reference_K_in. In .npz: member, score, label, target_logits (or \
target_probabilities) of shape records x classes, reference_logits of shape models x records x classes, reference_member of \
shape models x records, features, user. See docs/auditing.md.

HOW MEMBERS WERE SAMPLED. A table does not say, so it gets a lower bound only if you declare it: --drawn 0.5 if every record was \
included by its own fair coin (or a column drawn with that number), --drawn pairs if a coin chose one record of each pair \
(column pair), --drawn fixed if a fixed number was sampled uniformly. If the data refute the declaration, no bound is given.

BOUNDS. one-run (Steinke et al. 2023) requires that every record was included by an independent coin, and assumes nothing about \
the mechanism. f-dp (Mahloujifar et al. 2024) has the same premise. clopper-pearson requires that every row is a training run of \
its own. f-dp-gaussian and gaussian are tighter, and valid only for Gaussian mechanisms.

  reticent audit runs/first --references 16
  reticent audit runs/letters --unit author --non-members others.parquet
  reticent audit --scores scores.csv
  reticent audit --scores scores.csv --drawn 0.5
  reticent audit --scores predictions.npz --groups sex --prior 0.01 --out audits/mine --json";

pub(crate) const ATTACK: &str = "\
The parts of an audit, one at a time.

  reticent attack list
  reticent attack run lira-online --scores predictions.npz --out scores.csv

Reference models on several machines or in a job array: every job is independent and trains the missing models of its own \
share. The result does not depend on how the work was divided.

  seq 0 3 | xargs -P 2 -I{} reticent attack fit runs/first --index {} --of 4 --out shared/refs
  reticent attack collect runs/first --out shared/refs

Canaries: the training is repeated with additional records whose only purpose is to be detected, each inserted with probability \
1/2. This satisfies the premise of the one-run bound by construction.

  reticent attack canary runs/first --kind dirac --canaries 1000

Secrets in texts: the training of a language model is repeated with random secrets of a stated format, each planted as often as asked. \
The exposure of a secret is log2 of the number of possible secrets minus log2 of its rank by the model's loss (Carlini et al. 2019); \
about 1.44 bits in the mean for a model that has not seen it.

  reticent attack exposure runs/letters --format \"my pin is {digits:4}\" --repetitions 1,4,16";

pub(crate) const REPORT: &str = "\
One page for risk assessors: report.html, which is self-contained (no network, no scripts) and prints to PDF, and report.json \
with the same content. Neither names a record or reveals who was a member. Measurements, declarations and conclusions are kept \
apart; nothing is graded. Attacks that were not run are listed.

Facts that the data do not contain go into a TOML file (--declared). Every key is optional; the report says which are missing:

  title = \"Income model, spring release\"
  model = \"Income model 3\"
  purpose = \"Estimate of household income for subsidy planning\"
  release = \"query-api\"          # internal, query-api, open-weights
  prior = 0.01                   # base rate of members among the records an attacker tries
  subjects = 32561               # people in the training data
  records_per_subject = 1.0
  sensitivity = \"Income, education, marital status\"
  author = \"Data protection office\"
  contact = \"privacy@example.org\"
  notes = [\"First assessment\"]

With --compare, models with other defences stand beside this one: test accuracy against what the adaptive attack finds, one \
curve per defence, compared only at accuracies that both reach. The defence is read from each run: adversarial, label \
smoothing, dropout, weight decay, DP-SGD, or else the number of epochs (early stopping).

  reticent report runs/first
  reticent report audits/mine --declared declared.toml --open
  reticent report runs/plain --compare runs/adversarial,runs/private";
