//! The help below the flags of `account formula`.

pub(crate) const FORMULA: &str = "\
Formulas that textbooks and courses state, evaluated on public numbers: no data are read and nothing is spent. \
Each is refused outside the range in which it holds, and shown beside what this tool certifies. Use \
'account epsilon' and 'account noise' for real claims: they are tighter.

  reticent account formula gaussian --epsilon 0.5 --delta 1e-5
  reticent account formula selection --choices dark=500,brown=399,blond=60,red=40 --epsilon 0.1";

pub(crate) const SELECTION: &str = "\
The probability with which a private choice takes every candidate, and the bound that holds for any scores: \
the chosen score is less than --shortfall below the best with probability 1 - k e^(-epsilon shortfall / (2 \
sensitivity)) for k candidates. With --monotone the 2 is left out. Scores must be public or assumed: the \
probabilities of private scores are private.

  reticent account formula selection --choices dark=500,brown=399,blond=60,red=40 --epsilon 0.1
  reticent account formula selection --choices dark=500,brown=399 --epsilon 0.1 \\
      --mechanism permute-and-flip";

pub(crate) const SENSITIVITY: &str = "\
The L1 and L2 sensitivity of several counts, or of a sum and a mean of values within --bounds, under both \
neighboring relations. A mean needs the number of records, which is public under replace-one only.

  reticent account formula sensitivity --counts 4 --overlap 1
  reticent account formula sensitivity --bounds 0,5000 --dataset-size 100";

pub(crate) const GAUSSIAN: &str = "\
analytic: the least sigma, valid for every epsilon. classical: S sqrt(2 ln(1.25 / delta)) / epsilon, proven for \
epsilon below 1 and refused above. short: S sqrt(2 ln(1 / delta)) / epsilon, which fails for large epsilon. The \
last column is the delta that each sigma really has.

  reticent account formula gaussian --epsilon 0.5 --delta 1e-5
  reticent account formula gaussian --epsilon 10 --delta 1e-5 --json";

pub(crate) const RANDOM_RECORD: &str = "\
Publishing one of N records in full, chosen at random, is (0, 1/N)-DP: delta must be far below 1 / N.

  reticent account formula random-record --dataset-size 1000
  reticent account formula random-record --dataset-size 1000 --json";

pub(crate) const COMPOSITION: &str = "\
--count mechanisms with pure --epsilon each. The Rényi form is (4 epsilon sqrt(2 k ln(1 / delta)), delta), valid \
while ln(1 / delta) is at least epsilon^2 k. An outcome of probability Q has at most exp(2 epsilon sqrt(k ln(1 \
/ Q))) Q on neighboring data.

  reticent account formula composition --epsilon 0.01 --count 1000 --delta 1e-5
  reticent account formula composition --epsilon 0.01 --count 1000 --delta 1e-5 --probability 1e-6";

pub(crate) const OUTPUT_PERTURBATION: &str = "\
The minimizer of a regularized loss moves by at most 2 G / (N L) when one record is replaced. Gaussian noise of \
that sensitivity makes it private: by the least sigma, and by the classical formula for epsilon below 1.

  reticent account formula output-perturbation --dataset-size 10000 --regularization 0.01 \\
      --epsilon 0.5 --delta 1e-5
  reticent account formula output-perturbation --dataset-size 10000 --regularization 0.01 \\
      --epsilon 2 --delta 1e-5";

pub(crate) const SAMPLE_SIZE: &str = "\
A number of records that is enough: with probability at least 1 - 2 --failure over the sample and the noise, the \
mean loss on the population is at most --excess above that of any weights of norm --radius. The bound holds for \
every convex loss with this Lipschitz constant, and for records drawn independently.

  reticent account formula sample-size --excess 0.1 --dimension 14 --epsilon 0.5 --delta 1e-5
  reticent account formula sample-size --excess 0.1 --failure 0.01 --dimension 14 \\
      --epsilon 0.5 --delta 1e-5";

pub(crate) const PROJECTED_SGD: &str = "\
sigma = 16 G sqrt(T ln(2 / delta) ln(2.5 T / (delta N))) / (N epsilon), for epsilon of at most 1 and more than (N \
epsilon)^2 / (32 ln(2 / delta)) steps on one random record each. The pld accountant certifies a far smaller \
epsilon for the same noise.

  reticent account formula projected-sgd --dataset-size 1000 --steps 1000000 --epsilon 1 \\
      --delta 1e-5
  reticent account formula projected-sgd --dataset-size 1000 --steps 10000 --epsilon 1 \\
      --delta 1e-5 --json";
