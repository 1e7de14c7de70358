//! The help below the flags of `account`: what each question means, and two examples of it.

pub(crate) const ACCOUNT: &str = "\
Every use of private data costs some privacy, and the costs add up. These commands add them up: epsilon \
bounds how much an output can tell about any one record, delta is the probability that may come on top \
(P <= e^epsilon P' + delta for all events). Every answer is a true upper bound, with a lower one beside it where one is known.

Say what happened in one of two ways. --events takes a JSON file, as in docs/reference/events.md:
  {\"neighboring\": \"add-remove\", \"events\": [
     {\"laplace\": {\"noise_multiplier\": 20}},
     {\"repeated\": {\"count\": 10000, \"event\":
       {\"poisson_sampled\": {\"rate\": 0.01, \"event\": {\"gaussian\": {\"noise_multiplier\": 1}}}}}}]}
The certificate of a release is such a file too. Or describe one training run with clipped gradients \
and Gaussian noise (DP-SGD) by flags: --noise-multiplier 1 --sampling-rate 0.01 --steps 10000.

In the flags the noise multiplier is sigma / clipping norm C under either relation, as training libraries \
count it: a record in the batch adds at most C to the sum, one outside it adds 0. In --events a clipped_sum \
says the same; every other noise_multiplier is noise / sensitivity under the stated relation.

Sampling only helps if it happened: Poisson sampling means that every record enters every batch by its \
own coin. Batches cut from a shuffled list are --sampling shuffled, and cost more.

  reticent account epsilon --noise-multiplier 1 --sampling-rate 0.01 --steps 10000 --delta 1e-5
  reticent account noise --dataset-size 60000 --batch-size 256 --epochs 60 --epsilon 3 --delta 1e-5";

pub(crate) const EPSILON: &str = "\
The epsilon that everything adds up to at --delta: what may be claimed, and between which ends the truth \
lies.

  reticent account epsilon --noise-multiplier 1 --sampling-rate 0.01 --steps 10000 --delta 1e-5
  reticent account epsilon --events events.json --delta 1e-6 --accountant rdp --json";

pub(crate) const DELTA: &str = "\
The probability with which the loss may exceed --epsilon. Small ones keep all their digits.

  reticent account delta --noise-multiplier 5 --epsilon 2
  reticent account delta --noise-multiplier 1 --sampling-rate 0.01 --steps 1000 --epsilon 4 --json";

pub(crate) const NOISE: &str = "\
The least noise multiplier with which the run stays within (epsilon, delta). With --events it stands for \
every noise multiplier in the file, which must all be the same number.

  reticent account noise --sampling-rate 0.01 --steps 1000 --epsilon 1 --delta 1e-5
  reticent account noise --epsilon 1 --delta 1e-5
    (one release with Gaussian noise: its sigma per unit of sensitivity)";

pub(crate) const STEPS: &str = "\
The largest number of steps that stays within (epsilon, delta). With --events: how often the whole list \
may be repeated.

  reticent account steps --noise-multiplier 1 --sampling-rate 0.01 --epsilon 2 --delta 1e-5
  reticent account steps --events one-week.json --epsilon 8 --delta 1e-6";

pub(crate) const RATE: &str = "\
The largest Poisson sampling rate that stays within (epsilon, delta). With --events it stands for every \
rate in the file, which must all be the same number.

  reticent account rate --noise-multiplier 1 --steps 1000 --epsilon 2 --delta 1e-5
  reticent account rate --noise-multiplier 0.8 --steps 5000 --dataset-size 50000 --epsilon 3 --delta 1e-6";

pub(crate) const RDP: &str = "\
Upper bounds on the Rényi divergence of everything together, at any orders from 1 to inf. Where a value \
is infinite or has no known bound, JSON says null. With --delta: the best epsilon over all real orders.

  reticent account rdp --noise-multiplier 4 --sampling-rate 0.01 --orders 1.5,2,32
  reticent account rdp --events events.json --orders 1,2,inf --delta 1e-6 --json";

pub(crate) const TRADEOFF: &str = "\
An attacker who tells whether a record was used errs in two ways: false alarms (the false-positive rate) \
and misses (the false-negative rate). No attack whatever misses less than this at the given rates of \
false alarms; without privacy it would be 0, with perfect privacy 1 - fpr.

  reticent account tradeoff --noise-multiplier 1 --sampling-rate 0.01 --steps 1000 --fpr 0.001,0.01,0.1
  reticent account tradeoff --events events.json --fpr 0.03 --plot tradeoff.svg";

pub(crate) const GROUP: &str = "\
What a group of people (or one person with several records) is promised when each single record is \
protected. With --delta the events are accounted as the group meets them, which for sampled steps is \
exact. Without it, pure and approximate events give (epsilon, delta) by the group theorem, and one rdp \
event another rdp event.

  reticent account group --size 2 --noise-multiplier 2 --sampling-rate 0.01 --steps 1000 --delta 1e-5
  reticent account group --size 3 --events approximate.json";

pub(crate) const OUTCOME: &str = "\
Something bad may happen to a person anyway (a higher premium, say). If it happens with probability P \
when the record is used, within which range is that probability without it? The answer is the \
tightest range that follows from the events; for one rdp event it is the textbook one at its order.

  reticent account outcome --probability 0.01 --noise-multiplier 1 --sampling-rate 0.01 --steps 1000
  reticent account outcome --probability 0.01 --events pure.json --json";

pub(crate) const POSTERIOR: &str = "\
Somebody holds it likely, or unlikely, that a person's record was used (or, under replace-one, that it \
says one thing rather than another). Between which ends can an output move that belief? Odds move by at \
most e^epsilon, whatever the observer knows of other records, unless those come and go with this one (then \
see 'account group'). Claims with a delta do not say that much by themselves: \
give the events and the probability with which the bound may fail.

  reticent account posterior --epsilon 0.1,1,3
  reticent account posterior --prior 0.001,0.5 --noise-multiplier 1 --sampling-rate 0.01 --steps 1000 \\
      --delta 1e-6 --plot posterior.svg";

pub(crate) const COMPARE: &str = "\
Epsilon by every accountant that can account for the events, and the reason where one cannot. Two \
numbers beside them are no bounds, and say so: the estimate of the central limit theorem, and the strong \
composition curve as Abadi et al. (2016) published it.

  reticent account compare --noise-multiplier 4 --sampling-rate 0.01 --steps 10000 --delta 1e-5
  reticent account compare --noise-multiplier 4 --sampling-rate 0.01 --steps 10000 --delta 1e-5 \\
      --plot compare.svg";

pub(crate) const STATEMENT: &str = "\
The paragraph that a paper or a model card needs: what is protected from what, how batches were drawn, \
which accountant, epsilon and delta.

  reticent account statement --noise-multiplier 1.1 --dataset-size 60000 --batch-size 256 \\
      --epochs 60 --delta 1e-6
  reticent account statement --events certificate.json --delta 1e-6 --unit patient";
