"""Checks that `reticent` agrees with OpenDP, diffprivlib, mpmath and scipy where it should.

    python bench/peers/agree.py PATH_OF_RETICENT

Calibrations are compared with an exact computation and with the peers' own; distributions with the
exact one and with OpenDP's draws. The distribution tests alarm falsely less than once in 10^5 runs.
"""

import json
import math
import subprocess
import sys
import warnings
from pathlib import Path

import mpmath
import numpy
import opendp.prelude as dp
from scipy import stats

warnings.filterwarnings("ignore")
from diffprivlib.mechanisms import GaussianAnalytic  # noqa: E402  (it warns when imported)

dp.enable_features("contrib")
mpmath.mp.dps = 50

TABLE = Path(__file__).resolve().parents[2] / "testdata" / "adult" / "adult.parquet"
BETA = 0.05  # of the 95 % intervals
LEAST_P = 1e-6  # of each of the six distribution tests
EPSILONS = [0.01, 0.1, 0.5, 1.0, 3.0, 8.0]
BUDGETS = [(0.1, 1e-5), (0.5, 1e-9), (1.0, 1e-6), (1.0, 1e-12), (4.0, 1e-6), (10.0, 1e-5)]
CATEGORIES = [f"absent{i}" for i in range(2000)]  # no such country: every true count is 0

passed, failed = 0, 0


def check(name, holds, detail=""):
    global passed, failed
    passed, failed = passed + bool(holds), failed + (not holds)
    if not holds:
        print(f"FAIL {name}: {detail}")


def close(a, b, relative):
    return abs(a - b) <= relative * abs(b)


def release(*arguments):
    """The JSON that the command prints."""
    command = [sys.argv[1], "release", *map(str, arguments), "--json"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit {done.returncode}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def count(*arguments):
    """A released count with its noise multiplier and the half-width of its interval."""
    answer = release("count", TABLE, *arguments)
    (event,) = answer["certificate"]["events"]
    ((kind, terms),) = event.items()
    half_width = (answer["interval"][1] - answer["interval"][0]) / 2
    return kind, terms["noise_multiplier"], half_width, answer


def draws(*arguments):
    """Noise of one command: the histogram of categories that do not occur."""
    categories = ",".join(CATEGORIES)
    answer = release("histogram", TABLE, "--column", "native_country", "--categories", categories, *arguments)
    return answer["certificate"]["events"][0], numpy.array(answer["value"])


def gaussian_delta(epsilon, sigma):
    """The exact profile of the Gaussian mechanism at sensitivity 1 (Balle and Wang 2018)."""
    shift, tilt = 1 / (2 * sigma), epsilon * sigma
    return mpmath.ncdf(shift - tilt) - mpmath.exp(epsilon) * mpmath.ncdf(-shift - tilt)


def exact_sigma(epsilon, delta):
    """The least sigma that gives (epsilon, delta), to 30 digits."""
    epsilon, delta = mpmath.mpf(epsilon), mpmath.mpf(delta)
    low, high = mpmath.mpf("1e-3"), mpmath.mpf(1000)
    for _ in range(110):
        middle = (low + high) / 2
        low, high = (middle, high) if gaussian_delta(epsilon, middle) > delta else (low, middle)
    return high


def check_gaussian():
    for epsilon, delta in BUDGETS:
        name = f"gaussian, epsilon {epsilon}, delta {delta}"
        kind, multiplier, half_width, _ = count("--epsilon", epsilon, "--delta", delta, "--mechanism", "gaussian")
        exact = exact_sigma(epsilon, delta)
        enough = kind == "gaussian" and mpmath.mpf(multiplier) >= exact
        check(f"{name}: no less noise than exact", enough, f"{kind} {multiplier} < {exact}")
        check(f"{name}: exact to 1e-6", close(multiplier, float(exact), 1e-6), f"{multiplier}, {exact}")
        peer = GaussianAnalytic(epsilon=epsilon, delta=delta, sensitivity=1.0)._scale
        check(f"{name}: as diffprivlib", close(multiplier, peer, 1e-6), f"{multiplier}, {peer}")
        peer = dp.gaussian_scale_to_accuracy(multiplier, BETA)
        check(f"{name}: accuracy as OpenDP", peer - 1 <= half_width <= peer + 1, f"{half_width}, {peer}")


def check_laplace():
    for epsilon in EPSILONS:
        name = f"discrete laplace, epsilon {epsilon}"
        kind, multiplier, half_width, answer = count("--epsilon", epsilon)
        right = kind == "discrete_laplace" and close(multiplier, 1 / epsilon, 1e-12)
        check(f"{name}: scale 1/epsilon", right, f"{kind} {multiplier}")
        peer = integer_laplace(multiplier).map(1)
        check(f"{name}: epsilon as OpenDP", close(answer["certificate"]["epsilon"], peer, 1e-9), peer)
        # OpenDP: P(|X| >= accuracy) = beta; ours is the least whole k with P(|X| > k) <= beta.
        peer = max(0, math.ceil(dp.discrete_laplacian_scale_to_accuracy(multiplier, BETA) - 1 - 1e-9))
        check(f"{name}: accuracy as OpenDP", half_width == peer, f"{half_width}, {peer}")


def check_discrete_gaussian():
    for epsilon, delta in BUDGETS:
        name = f"discrete gaussian, epsilon {epsilon}, delta {delta}"
        arguments = ("--epsilon", epsilon, "--delta", delta, "--mechanism", "discrete-gaussian")
        kind, multiplier, _, answer = count(*arguments)
        check(f"{name}: kind", kind == "discrete_gaussian", kind)
        peer = dp.c.make_zCDP_to_approxDP(integer_gaussian(multiplier)).map(1).epsilon(delta)
        claimed = answer["certificate"]["epsilon"]
        check(f"{name}: epsilon as OpenDP", close(claimed, peer, 1e-4), f"{claimed}, {peer}")


def integer_laplace(scale):
    return dp.m.make_laplace(dp.atom_domain(T="i64"), dp.absolute_distance(T="i64"), scale)


def integer_gaussian(scale):
    return dp.m.make_gaussian(dp.atom_domain(T="i64"), dp.absolute_distance(T="i64"), scale)


def laplace_pmf(x, scale):
    return math.tanh(1 / (2 * scale)) * math.exp(-abs(x) / scale)


def gaussian_pmf(x, sigma):
    total = sum(math.exp(-((k / sigma) ** 2) / 2) for k in range(-int(20 * sigma) - 20, int(20 * sigma) + 21))
    return math.exp(-((x / sigma) ** 2) / 2) / total


def rounded_normal_pmf(x, sigma):
    return stats.norm.cdf(x + 0.5, scale=sigma) - stats.norm.cdf(x - 0.5, scale=sigma)


def table_of(sample, reach):
    """How often each of -reach..reach occurred, everything beyond counted with the ends."""
    clipped = numpy.clip(sample, -reach, reach) + reach
    return numpy.bincount(clipped, minlength=2 * reach + 1)


def check_distribution(name, arguments, pmf, peer, reach):
    """Our draws against the exact distribution, and against as many draws of a peer."""
    event, sample = draws(*arguments)
    scale = next(iter(event.values()))["noise_multiplier"]
    observed = table_of(sample, reach)
    exact = numpy.array([pmf(x, scale) for x in range(-reach, reach + 1)])
    exact[[0, -1]] += (1 - exact.sum()) / 2
    p = stats.chisquare(observed, exact * len(sample)).pvalue
    check(f"{name}: {len(sample)} draws follow the exact distribution", p > LEAST_P, f"p = {p:.2g}")
    theirs = table_of(numpy.array(peer(scale, len(sample))), reach)
    p = stats.chi2_contingency([observed, theirs]).pvalue
    check(f"{name}: and the peer's", p > LEAST_P, f"p = {p:.2g}")


def opendp_vector(make, metric):
    integers = dp.vector_domain(dp.atom_domain(T="i64"))
    return lambda scale, size: make(integers, metric, scale)(numpy.zeros(size, dtype=numpy.int64))


def scipy_rounded(scale, size):
    return numpy.rint(stats.norm.rvs(scale=scale, size=size)).astype(int)


def check_distributions():
    pure, gaussian = ("--epsilon", 0.5), ("--epsilon", 1, "--delta", 1e-6, "--mechanism")
    laplace = opendp_vector(dp.m.make_laplace, dp.l1_distance(T="i64"))
    check_distribution("discrete laplace", pure, laplace_pmf, laplace, 7)
    discrete = opendp_vector(dp.m.make_gaussian, dp.l2_distance(T="f64"))
    check_distribution("discrete gaussian", (*gaussian, "discrete-gaussian"), gaussian_pmf, discrete, 10)
    check_distribution("gaussian", (*gaussian, "gaussian"), rounded_normal_pmf, scipy_rounded, 10)


def main():
    check_gaussian()
    check_laplace()
    check_discrete_gaussian()
    check_distributions()
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main()
