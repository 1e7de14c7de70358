//! The help below the flags of `audit`, `attack` and `report`.

pub(crate) const AUDIT: &str = "\
An audit plays the attacker: it scores records by how much they look like training data, and counts how often that \
is right. Two things come out. How many members an attacker finds at few false alarms: a statement about \
these attacks and these records. And, where members were drawn by chance, a lower bound on epsilon that holds with the stated \
confidence: whoever claims a smaller one is wrong. An audit that finds little proves little, since a better attack may come.

A MODEL OF OURS. The folder that 'reticent train --out' wrote. As many reference models as --references says are trained in the \
same way, each with a random half of the audited records (the rest of the training data is in all of them), and \
the target is compared with those that had a record and those that had not. They are kept: Ctrl-C loses \
nothing, and a second audit trains only what is missing. With references at 0, the model's own loss is all there is.

ANYBODY'S MODEL. A table with the columns score (larger for what looks like a member) and member (0 or 1), or with \
probability_0, probability_1, … (or logit_0, …), label and member. Optional: id, user, feature_…, groups by \
--groups, reference models as reference_K and reference_K_in. In .npz: member, score, label, target_logits (or \
target_probabilities) of records x classes, reference_logits of models x records x classes, reference_member of \
models x records, features, user. See docs/auditing.md.

HOW MEMBERS WERE DRAWN. A table does not tell, so it gets no bound unless you declare it: --drawn 0.5 if every record was put in by \
a fair coin of its own (or a column drawn with that number), --drawn pairs if a coin chose one record of each pair (column \
pair), --drawn fixed if a fixed number was drawn at random. What the data refute is not believed.

BOUNDS. one-run (Steinke et al. 2023) asks that every record was put in by a coin, independently, and assumes \
nothing of the mechanism. f-dp (Mahloujifar et al. 2024) has the same premise. clopper-pearson asks that every row is a training run of \
its own. f-dp-gaussian and gaussian are stronger, and hold only for mechanisms that are Gaussian.

  reticent audit runs/first --references 16
  reticent audit --scores scores.csv
  reticent audit --scores scores.csv --drawn 0.5
  reticent audit --scores predictions.npz --groups sex --prior 0.01 --out audits/mine --json";

pub(crate) const ATTACK: &str = "\
The parts of an audit, one at a time.

  reticent attack list
  reticent attack run lira-online --scores predictions.npz --out scores.csv

Reference models on several machines, or in a job array: every job is independent, trains what is missing of its own \
share, and the result does not depend on how the work was divided.

  seq 0 3 | xargs -P 2 -I{} reticent attack fit runs/first --index {} --of 4 --out shared/refs
  reticent attack collect runs/first --out shared/refs

Canaries: the training is repeated with records that are there only to be found, each put in by a fair coin. That is the \
premise of the one-run bound, so what it says about epsilon holds.

  reticent attack canary runs/first --kind dirac --canaries 1000";

pub(crate) const REPORT: &str = "\
One page for whoever assesses the risk: report.html, which stands alone (no network, no script) and prints to PDF, and \
report.json with the same content. Neither names a record or tells who was a member. What was measured, what was declared and what follows from both are kept \
apart; nothing is graded. What was not run is listed.

What only people know goes into a TOML file (--declared). Every key may be left out, and the report then says so:

  title = \"Income model, spring release\"
  model = \"Income model 3\"
  purpose = \"Estimate of household income for subsidy planning\"
  release = \"query-api\"          # internal, query-api, open-weights
  prior = 0.01                   # share of members among those an attacker would try
  subjects = 32561               # people in the training data
  records_per_subject = 1.0
  sensitivity = \"Income, education, marital status\"
  author = \"Data protection office\"
  contact = \"privacy@example.org\"
  notes = [\"First assessment\"]

  reticent report runs/first
  reticent report audits/mine --declared declared.toml --open";
