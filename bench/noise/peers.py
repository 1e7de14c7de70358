"""Times one peer library: the same cases as the Rust binary, one JSON object per line.

    python peers.py opendp|diffprivlib|numpy|torch [beginning of a case name ...]

A peer is timed through its own Python interface, on vectors where it takes vectors and in a loop
where it takes one number at a time; mechanisms are built before the clock starts.
"""

import json
import sys
import time
import warnings

LONG_ENOUGH = 0.25  # seconds of wall time for which a case is repeated
VECTOR = 100_000
LAPLACE_SCALES = {"1": 1.0, "100": 100.0, "2^40": 2.0**40}
GAUSSIAN_SIGMAS = {"1": 1.0, "100": 100.0, "4096": 4096.0}


def timed(call):
    """Wall and CPU seconds of one call."""
    cpu, wall = time.process_time(), time.perf_counter()
    call()
    return time.perf_counter() - wall, time.process_time() - cpu


def measure(library, case, items, call):
    """Repeats a call and prints what it took; a first call that is short only warms up."""
    times = [timed(call)]
    if times[0][0] < LONG_ENOUGH:
        times = [timed(call)]
    while sum(wall for wall, _ in times) < LONG_ENOUGH:
        times.append(timed(call))
    line = {
        "case": case,
        "library": library,
        "items_per_call": items,
        "calls": len(times),
        "wall_s": sum(wall for wall, _ in times),
        "cpu_s": sum(cpu for _, cpu in times),
        "best_call_s": min(wall for wall, _ in times),
    }
    print(json.dumps(line), flush=True)


def scores(name, candidates):
    """The score lists of the Rust binary."""
    import numpy

    if name == "spread":
        return 100.0 * numpy.arange(candidates) / candidates
    peak = numpy.zeros(candidates)
    peak[candidates // 2] = 1000.0
    return peak


SELECTIONS = [("spread", 100), ("spread", 10_000), ("peak", 10_000)]


def opendp_cases():
    import numpy
    import opendp.prelude as dp

    dp.enable_features("contrib")
    integers = dp.vector_domain(dp.atom_domain(T="i64"))
    zeros = numpy.zeros(VECTOR, dtype=numpy.int64)
    for label, scale in LAPLACE_SCALES.items():
        laplace = dp.m.make_laplace(integers, dp.l1_distance(T="i64"), scale)
        yield f"discrete_laplace/{label}", VECTOR, lambda m=laplace: m(zeros)
    for label, sigma in GAUSSIAN_SIGMAS.items():
        gaussian = dp.m.make_gaussian(integers, dp.l2_distance(T="f64"), sigma)
        yield f"discrete_gaussian/{label}", VECTOR, lambda m=gaussian: m(zeros)

    reals = dp.vector_domain(dp.atom_domain(T="f64", nan=False))
    real_zeros = numpy.zeros(VECTOR)
    laplace = dp.m.make_laplace(reals, dp.l1_distance(T="f64"), 1.0)
    yield "real_laplace/1", VECTOR, lambda m=laplace: m(real_zeros)
    gaussian = dp.m.make_gaussian(reals, dp.l2_distance(T="f64"), 1.0)
    yield "real_gaussian/1", VECTOR, lambda m=gaussian: m(real_zeros)
    # A million would take it minutes; its cost per number does not depend on the length.
    singles = dp.vector_domain(dp.atom_domain(T="f32", nan=False))
    gaussian = dp.m.make_gaussian(singles, dp.l2_distance(T="f64"), 1.0)
    short = numpy.zeros(VECTOR, dtype=numpy.float32)
    yield "bulk_gaussian/1e6/1", VECTOR, lambda m=gaussian: m(short)

    # Its noisy max draws Gumbel noise under zCDP (the exponential mechanism) and exponential noise
    # under pure DP (the distribution of permute-and-flip). Scale 2 is epsilon 1 at sensitivity 1.
    measures = {
        "exponential": dp.zero_concentrated_divergence(),
        "permute_and_flip": dp.max_divergence(),
        "noisy_max": dp.max_divergence(),
    }
    for rule, measure_of_privacy in measures.items():
        choose = dp.m.make_noisy_max(reals, dp.linf_distance(T="f64"), measure_of_privacy, 2.0)
        for name, candidates in SELECTIONS:
            listed = scores(name, candidates)
            yield f"{rule}/{name}/{candidates}", 1, lambda m=choose, s=listed: m(s)

    whole, real = dp.atom_domain(T="i64"), dp.atom_domain(T="f64", nan=False)
    one = dp.m.make_laplace(whole, dp.absolute_distance(T="i64"), 1.0)
    yield "latency/discrete_laplace", 1, lambda m=one: m(1000)
    one = dp.m.make_laplace(real, dp.absolute_distance(T="f64"), 1.0)
    yield "latency/real_laplace", 1, lambda m=one: m(1000.0)
    one = dp.m.make_gaussian(real, dp.absolute_distance(T="f64"), 1.0)
    yield "latency/real_gaussian", 1, lambda m=one: m(1000.0)


def diffprivlib_cases():
    warnings.filterwarnings("ignore")
    from diffprivlib import mechanisms

    def loop(mechanism, value, count):
        def call():
            for _ in range(count):
                mechanism.randomise(value)

        return call

    def discrete_gaussian(sigma):
        # It only takes (epsilon, delta); the sampler itself reads this field.
        mechanism = mechanisms.GaussianDiscrete(epsilon=1.0, delta=1e-6, sensitivity=1)
        mechanism._scale = sigma
        return mechanism

    for label, scale in LAPLACE_SCALES.items():
        geometric = mechanisms.Geometric(epsilon=1.0 / scale, sensitivity=1)
        yield f"discrete_laplace/{label}", 2000, loop(geometric, 0, 2000)
    for label, sigma in GAUSSIAN_SIGMAS.items():
        count = max(20, int(2000 / sigma))
        yield f"discrete_gaussian/{label}", count, loop(discrete_gaussian(sigma), 0, count)
    laplace = mechanisms.Laplace(epsilon=1.0, sensitivity=1.0)
    gaussian = mechanisms.GaussianAnalytic(epsilon=1.0, delta=1e-6, sensitivity=1.0)
    yield "real_laplace/1", 2000, loop(laplace, 0.0, 2000)
    yield "real_gaussian/1", 2000, loop(gaussian, 0.0, 2000)

    rules = {"exponential": mechanisms.Exponential, "permute_and_flip": mechanisms.PermuteAndFlip}
    for rule, kind in rules.items():
        for name, candidates in SELECTIONS:
            listed = scores(name, candidates).tolist()
            choose = kind(epsilon=1.0, sensitivity=1.0, utility=listed)
            yield f"{rule}/{name}/{candidates}", 1, choose.randomise

    geometric = mechanisms.Geometric(epsilon=1.0, sensitivity=1)
    yield "latency/discrete_laplace", 1, loop(geometric, 1000, 1)
    yield "latency/real_laplace", 1, loop(laplace, 1000.0, 1)
    yield "latency/real_gaussian", 1, loop(gaussian, 1000.0, 1)


def numpy_cases():
    import numpy

    generator = numpy.random.default_rng()
    for label, length in {"1e6": 1_000_000, "1e7": 10_000_000}.items():
        out = numpy.zeros(length, dtype=numpy.float32)
        yield (
            f"bulk_gaussian/{label}/1",
            length,
            lambda o=out: generator.standard_normal(dtype=numpy.float32, out=o),
        )


def torch_cases():
    import torch

    for label, length in {"1e6": 1_000_000, "1e7": 10_000_000}.items():
        out = torch.zeros(length)
        for threads in (1, 2):

            def call(out=out, threads=threads):
                torch.set_num_threads(threads)
                out.normal_()

            yield f"bulk_gaussian/{label}/{threads}", length, call


LIBRARIES = {
    "opendp": opendp_cases,
    "diffprivlib": diffprivlib_cases,
    "numpy": numpy_cases,
    "torch": torch_cases,
}


def main():
    library, wanted = sys.argv[1], tuple(sys.argv[2:])
    for case, items, call in LIBRARIES[library]():
        if not wanted or case.startswith(wanted):
            measure(library, case, items, call)


if __name__ == "__main__":
    main()
