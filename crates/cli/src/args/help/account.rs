//! The help below the flags of `account`: what each question means, and two examples.

pub(crate) const ACCOUNT: &str = "\
Every use of private data costs privacy, and the costs compose. These commands compute the total: epsilon bounds how much an \
output can reveal about any single record, and delta is the probability mass that this bound may miss \
(P <= e^epsilon P' + delta for all events). Every epsilon printed is a proven upper bound, with a certified lower bound \
where one is known.

Describe the events in one of three ways. --events takes a JSON file, as in docs/reference/events.md:
  {\"neighboring\": \"add-remove\", \"events\": [
     {\"laplace\": {\"noise_multiplier\": 20}},
     {\"repeated\": {\"count\": 10000, \"event\":
       {\"poisson_sampled\": {\"rate\": 0.01, \"event\": {\"gaussian\": {\"noise_multiplier\": 1}}}}}}]}
The certificate of a release is such a file too. --opacus and --dp-event read what Opacus and dp_accounting have recorded. Or \
describe one training run with clipped gradients and Gaussian noise \
(DP-SGD) by flags: --noise-multiplier 1 --sampling-rate 0.01 --steps 10000.

In the flags the noise multiplier is sigma / clipping norm C under either relation, as in training libraries: a record in the \
batch adds at most C to the sum, a record outside it adds 0. In --events, a clipped_sum has the same meaning; every other \
noise_multiplier is noise / sensitivity under the stated relation.

Amplification by sampling holds only if batches were really sampled: Poisson sampling includes every record in every batch by \
an independent coin. Batches cut from a shuffled list are --sampling shuffled, and cost more.

  reticent account epsilon --noise-multiplier 1 --sampling-rate 0.01 --steps 10000 --delta 1e-5
  reticent account noise --dataset-size 60000 --batch-size 256 --epochs 60 --epsilon 3 --delta 1e-5";

pub(crate) const EPSILON: &str = "\
The total epsilon at --delta: a proven upper bound, and a certified lower bound on the exact value.

  reticent account epsilon --noise-multiplier 1 --sampling-rate 0.01 --steps 10000 --delta 1e-5
  reticent account epsilon --events events.json --delta 1e-6 --accountant rdp --json";

pub(crate) const DELTA: &str = "\
The smallest delta at --epsilon. Small values keep all their digits.

  reticent account delta --noise-multiplier 5 --epsilon 2
  reticent account delta --noise-multiplier 1 --sampling-rate 0.01 --steps 1000 --epsilon 4 --json";

pub(crate) const NOISE: &str = "\
The smallest noise multiplier that keeps the run within (epsilon, delta). With --events it replaces every noise multiplier in \
the file; these must all be equal.

  reticent account noise --sampling-rate 0.01 --steps 1000 --epsilon 1 --delta 1e-5
  reticent account noise --epsilon 1 --delta 1e-5
    (one Gaussian mechanism: sigma / sensitivity)";

pub(crate) const STEPS: &str = "\
The largest number of steps within (epsilon, delta). With --events: how often the whole list may be repeated.

  reticent account steps --noise-multiplier 1 --sampling-rate 0.01 --epsilon 2 --delta 1e-5
  reticent account steps --events one-week.json --epsilon 8 --delta 1e-6";

pub(crate) const RATE: &str = "\
The largest Poisson sampling rate within (epsilon, delta). With --events it replaces every sampling rate in the file; these \
must all be equal.

  reticent account rate --noise-multiplier 1 --steps 1000 --epsilon 2 --delta 1e-5
  reticent account rate --noise-multiplier 0.8 --steps 5000 --dataset-size 50000 --epsilon 3 \\
      --delta 1e-6";

pub(crate) const RDP: &str = "\
Upper bounds on the Rényi divergence of all events together, at any orders from 1 to inf. In JSON, null stands for a value \
that is infinite or has no known bound. With --delta: the best epsilon over all real orders.

  reticent account rdp --noise-multiplier 4 --sampling-rate 0.01 --orders 1.5,2,32
  reticent account rdp --events events.json --orders 1,2,inf --delta 1e-6 --json";

pub(crate) const TRADEOFF: &str = "\
An attacker who guesses whether a record was used makes two kinds of errors: false positives and false negatives. This is a \
lower bound on the false-negative rate of every possible attack at the given false-positive rates. Without privacy it would be \
0, with perfect privacy 1 - fpr.

  reticent account tradeoff --noise-multiplier 1 --sampling-rate 0.01 --steps 1000 \\
      --fpr 0.001,0.01,0.1
  reticent account tradeoff --events events.json --fpr 0.03 --plot tradeoff.svg";

pub(crate) const RECONSTRUCTION: &str = "\
An attacker who knows all other records tries to recover one record, or one attribute of it, by a rule of success that is fixed \
beforehand. --prior is the probability that the attack succeeds against a release without the record: what public knowledge, the \
other records and luck give. It is not the rate of anything in a population. The answer is an upper bound on the probability of \
success against the real release, for every attack (Hayes, Mahloujifar, Balle 2023). The advantage is success less prior; it bounds \
attribute inference. Under replace-one the prior is that against a release with another, independent record in its place.

  reticent account reconstruction --prior 0.01 --noise-multiplier 1 --sampling-rate 0.01 --steps 1000
  reticent account reconstruction --prior 1e-6,0.1 --events certificate.json --plot success.svg";

pub(crate) const GROUP: &str = "\
The guarantee of a group of people (or of one person with several records) when each single record is protected. With --delta, \
the events are accounted for the whole group, which is exact for sampled steps. Without it, pure and approximate events give \
(epsilon, delta) by the group privacy theorem, and one rdp event gives another rdp event.

  reticent account group --size 2 --noise-multiplier 2 --sampling-rate 0.01 --steps 1000 \\
      --delta 1e-5
  reticent account group --size 3 --events approximate.json";

pub(crate) const OUTCOME: &str = "\
A bad outcome, such as a higher premium, has probability P if a person's record is used. What can its probability be if the \
record is not used? The answer is the tightest range that follows from the events; for one rdp event it is the textbook range \
at its order.

  reticent account outcome --probability 0.01 --noise-multiplier 1 --sampling-rate 0.01 --steps 1000
  reticent account outcome --probability 0.01 --events pure.json --json";

pub(crate) const POSTERIOR: &str = "\
An observer believes with some prior probability that a person's record was used (or, under replace-one, that it has one value \
rather than another). How far can an output move that belief? The odds change by a factor of at most e^epsilon, whatever the \
observer knows about other records, unless those are correlated with this one (then see 'account group'). An (epsilon, delta) \
guarantee alone does not imply such a bound: give the events, and with --delta the probability with which the bound may fail. \
With --orders, the mean change over all outputs is bounded as well.

  reticent account posterior --epsilon 0.1,1,3
  reticent account posterior --prior 0.001,0.5 --noise-multiplier 1 --sampling-rate 0.01 --steps 1000 \\
      --delta 1e-6 --plot posterior.svg";

pub(crate) const COMPARE: &str = "\
Epsilon by every accountant that supports the events, and the reason if one does not. Two further numbers are marked as not \
being bounds: the estimate by the central limit theorem, and the strong composition curve as published by Abadi et al. (2016).

  reticent account compare --noise-multiplier 4 --sampling-rate 0.01 --steps 10000 --delta 1e-5
  reticent account compare --noise-multiplier 4 --sampling-rate 0.01 --steps 10000 --delta 1e-5 \\
      --plot compare.svg";

pub(crate) const STATEMENT: &str = "\
The paragraph for a paper or a model card: privacy unit and neighboring relation, sampling, accountant, epsilon and delta.

  reticent account statement --noise-multiplier 1.1 --dataset-size 60000 --batch-size 256 \\
      --epochs 60 --delta 1e-6
  reticent account statement --events certificate.json --delta 1e-6 --unit patient";
