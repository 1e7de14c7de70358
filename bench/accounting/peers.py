"""Measures one method on one setting, in a process of its own: one JSON object.

    python peers.py METHOD SETTING

The clock runs over the first call alone: imports come before it, and nothing is warmed up. The
method `exact` is no peer: it is the contour integral against which all of them are judged.
"""

import json
import math
import resource
import sys
import time

# An event is (kind, count, noise multiplier), and for `sampled` (Poisson-sampled Gaussian) also the rate.
SETTINGS = {
    "A": {"events": [("sampled", 10_000, 1.0, 0.01)], "delta": 1e-5},
    "B": {"events": [("sampled", 10_000, 4.0, 0.01)], "delta": 1e-5},
    "C": {"events": [("sampled", 14_040, 1.1, 256 / 60_000)], "delta": 1e-5},
    "D": {"events": [("sampled", 100_000, 0.6, 1e-3)], "delta": 1e-6},
    "E": {"events": [("sampled", 1_000_000, 2.0, 0.05)], "delta": 1e-7},
    "F": {"events": [("gaussian", 20, 10.0), ("sampled", 1000, 1.0, 0.01), ("laplace", 5, 20.0)], "delta": 1e-6},
    "G": {"events": [("sampled", 500, 1.2, 0.02), ("sampled", 500, 2.0, 0.05), ("gaussian", 1, 5.0)], "delta": 1e-6},
    "H": {"events": [("sampled", 2000, 0.8, 0.005), ("laplace", 100, 50.0), ("gaussian", 100, 30.0)], "delta": 1e-8},
}
# What only our command is asked for.
EXTREMES = {
    "steps-1e7": {"events": [("sampled", 10_000_000, 1.0, 1e-4)], "delta": 1e-6},
    "delta-1e-30": {"events": [("sampled", 10_000, 1.0, 0.01)], "delta": 1e-30},
}
# The noise multiplier is what is asked for.
CALIBRATION = {"rate": 0.01, "steps": 1000, "epsilon": 1.0, "delta": 1e-5}

LARGEST_C = 60  # where a contour may cross the real axis
DIGITS = 34  # of the second, multiple-precision contour


def nodes(sigma, rate, library):
    """Trapezoid nodes over N(0, sigma²): logs of the weight and of the likelihood ratio of a sampled Gaussian."""
    sigma, rate = library.mpf(sigma), library.mpf(rate)
    step = min(sigma / 8, sigma**2 / 5)
    first, last = int(-12 * sigma / step), int((1 + LARGEST_C + 12 * sigma) / step)
    for x in (k * step for k in range(first, last + 1)):
        weight = library.log(step / (sigma * library.sqrt(2 * library.pi))) - (x / sigma) ** 2 / 2
        yield weight, library.log1p(rate * library.expm1((2 * x - 1) / (2 * sigma**2)))


def log_moments(events, remove):
    """The function z -> log E exp(z L) of the composition, on arrays of complex numbers."""
    import mpmath
    import numpy

    def sampled(sigma, rate):
        weight, ratio = numpy.array(list(nodes(sigma, rate, mpmath.fp))).T

        def moments(z):
            power = (1 + z if remove else -z)[..., None] * ratio
            near = numpy.exp(weight) * numpy.expm1(power)
            far = numpy.exp(weight + power) - numpy.exp(weight)
            return numpy.log1p(numpy.where(power.real < 1, near, far).sum(-1))

        return moments

    def laplace(scale):
        return lambda z: numpy.log(((1 + z) * numpy.exp(z / scale) + z * numpy.exp(-(1 + z) / scale)) / (1 + 2 * z))

    def gaussian(sigma):
        return lambda z: z * (z + 1) / (2 * sigma**2)

    kinds = {"sampled": sampled, "laplace": laplace, "gaussian": gaussian}
    terms = [(count, kinds[kind](*parameters)) for kind, count, *parameters in events]
    return lambda z: sum(count * term(z) for count, term in terms)


def double_epsilon(events, delta, remove):
    """Epsilon of one direction in double precision, and the contour that gave it: c, step, d log(delta)/d epsilon."""
    import numpy

    moments = log_moments(events, remove)
    grid = numpy.geomspace(0.01, LARGEST_C, 800)
    known = numpy.nan_to_num(moments(grid), nan=numpy.inf)
    epsilon = ((known + grid * numpy.log(grid) - (1 + grid) * numpy.log1p(grid) - math.log(delta)) / grid).min()
    for _ in range(60):  # Newton's method on log(delta), from above
        at = numpy.argmin(known - grid * epsilon - numpy.log(grid * (1 + grid)))
        c = grid[at]
        curvature = numpy.gradient(numpy.gradient(known, grid), grid)[at] + c**-2 + (1 + c) ** -2
        step = min(0.25 / math.sqrt(curvature), 2 * math.pi * c / (40 - math.log(delta)))
        size, values = 64, [1.0, 1.0]
        while abs(values[-1]) > 1e-17 * abs(values[0]):
            size *= 2
            z = c + 1j * step * numpy.arange(size)
            values = numpy.exp(moments(z) - z * epsilon - (known[at] - c * epsilon)) / (z * (1 + z))
        values[0] /= 2
        total, slope = values.sum().real, -(z * values).sum().real
        excess = math.log(total * step / math.pi) + known[at] - c * epsilon - math.log(delta)
        epsilon -= excess * total / slope
        if abs(excess) < 1e-12:
            return float(epsilon), float(c), float(step), float(slope / total)
    raise ArithmeticError("Newton's method did not settle")


def precise_epsilon(events, delta, remove, start):
    """One more step of Newton's method, on another contour and with many digits."""
    from mpmath import mp

    mp.dps = DIGITS
    epsilon, c, step, slope = (mp.mpf(value) for value in start)
    c, step = c * 7 / 8, step * 3 / 4
    tables = [list(nodes(*rest, mp)) if kind == "sampled" else None for kind, _, *rest in events]

    def moments(z):
        total = mp.zero
        for (kind, count, scale, *_), table in zip(events, tables):
            scale, power = mp.mpf(scale), 1 + z if remove else -z
            if kind == "gaussian":
                total += count * z * (z + 1) / (2 * scale**2)
            elif kind == "laplace":
                total += count * mp.log(((1 + z) * mp.exp(z / scale) + z * mp.exp(-(1 + z) / scale)) / (1 + 2 * z))
            else:
                total += count * mp.log(mp.fsum(mp.exp(weight + power * ratio) for weight, ratio in table))
        return total

    total, k = mp.zero, 0
    while True:
        z = mp.mpc(c, k * step)
        value = mp.exp(moments(z) - z * epsilon) / (z * (1 + z))
        total += value.real / (1 if k else 2)
        if k and abs(value) < abs(total) * mp.mpf(10) ** -22:
            break
        k += 1
    return float(epsilon - (mp.log(total * step / mp.pi) - mp.log(delta)) / slope)


def worse_epsilon(events, delta):
    """Epsilon of the worse direction, by both contours."""
    starts = {remove: double_epsilon(events, delta, remove) for remove in (True, False)}
    worse = max(starts, key=lambda remove: starts[remove][0])
    precise = precise_epsilon(events, delta, worse, starts[worse])
    return {"upper": precise, "double": starts[worse][0], "direction": "remove" if worse else "add"}


def exact_noise():
    """The noise multiplier of the calibration, by the secant method on its logarithm."""

    def gap(log_noise):
        events = [("sampled", CALIBRATION["steps"], math.exp(log_noise), CALIBRATION["rate"])]
        return worse_epsilon(events, CALIBRATION["delta"])["upper"] - CALIBRATION["epsilon"]

    before, now = 0.0, 0.1
    gap_before, gap_now = gap(before), gap(now)
    while abs(gap_now) > 1e-14:
        before, now = now, now - gap_now * (now - before) / (gap_now - gap_before)
        gap_before, gap_now = gap_now, gap(now)
    return {"noise_multiplier": math.exp(now)}


def exact(setting):
    import numpy

    numpy.seterr(all="ignore")
    return exact_noise if setting == "calibration" else lambda: worse_epsilon(*known_setting(setting))


def known_setting(name):
    setting = {**SETTINGS, **EXTREMES}[name]
    return setting["events"], setting["delta"]


def dp_accounting(setting, make_accountant):
    import dp_accounting as dpa

    def event(kind, count, noise, *rate):
        one = dpa.LaplaceDpEvent(noise) if kind == "laplace" else dpa.GaussianDpEvent(noise)
        return dpa.SelfComposedDpEvent(dpa.PoissonSampledDpEvent(rate[0], one) if rate else one, count)

    make = make_accountant()
    if setting == "calibration":
        steps, rate, epsilon, delta = (CALIBRATION[key] for key in ("steps", "rate", "epsilon", "delta"))
        trial = lambda noise: event("sampled", steps, noise, rate)
        return lambda: {"noise_multiplier": dpa.calibrate_dp_mechanism(make, trial, epsilon, delta)}
    events, delta = known_setting(setting)
    return lambda: {"upper": make().compose(dpa.ComposedDpEvent([event(*each) for each in events])).get_epsilon(delta)}


def dpa_rdp(setting):
    def make_accountant():
        from dp_accounting.rdp import RdpAccountant

        return RdpAccountant

    return dp_accounting(setting, make_accountant)


def dpa_pld(interval):
    def make_accountant():
        from dp_accounting.pld import PLDAccountant

        return lambda: PLDAccountant(value_discretization_interval=interval)

    return lambda setting: dp_accounting(setting, make_accountant)


def prv(error):
    def method(setting):
        from prv_accountant import GaussianMechanism, LaplaceMechanism, PoissonSubsampledGaussianMechanism, PRVAccountant

        events, delta = known_setting(setting)
        make = {
            "sampled": lambda noise, rate: PoissonSubsampledGaussianMechanism(rate, noise),
            "gaussian": GaussianMechanism,
            "laplace": lambda noise: LaplaceMechanism(1 / noise),
        }

        def call():
            counts = [count for _, count, *_ in events]
            variables = [make[kind](*parameters) for kind, _, *parameters in events]
            accountant = PRVAccountant(variables, error, delta / 1000, max_self_compositions=counts)
            return dict(zip(("lower", "estimate", "upper"), map(float, accountant.compute_epsilon(delta, counts))))

        return call

    return method


def opacus(name):
    def method(setting):
        from opacus.accountants import create_accountant
        from opacus.accountants.utils import get_noise_multiplier

        if setting == "calibration":
            target = {"target_epsilon": CALIBRATION["epsilon"], "target_delta": CALIBRATION["delta"]}
            run = {"sample_rate": CALIBRATION["rate"], "steps": CALIBRATION["steps"], "accountant": name}
            return lambda: {"noise_multiplier": get_noise_multiplier(**target, **run)}
        events, delta = known_setting(setting)
        if any(kind == "laplace" for kind, *_ in events):
            raise NotImplementedError("Opacus has no Laplace mechanism")

        def call():
            accountant = create_accountant(name)
            accountant.history = [(noise, rate[0] if rate else 1.0, count) for _, count, noise, *rate in events]
            return {"upper": float(accountant.get_epsilon(delta))}

        return call

    return method


METHODS = {
    "exact": exact,
    "dpa_rdp": dpa_rdp,
    "dpa_pld_1e-4": dpa_pld(1e-4),
    "dpa_pld_1e-5": dpa_pld(1e-5),
    "prv_0.1": prv(0.1),
    "prv_0.01": prv(0.01),
    "opacus_rdp": opacus("rdp"),
    "opacus_prv": opacus("prv"),
}
CALIBRATING = ["dpa_pld_1e-4", "opacus_rdp", "opacus_prv"]


def resident_mb():
    """The most memory this process has held so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main():
    method, setting = sys.argv[1:]
    line = {}
    try:
        call = METHODS[method](setting)
        line["import_mb"] = resident_mb()
        cpu, wall = time.process_time(), time.perf_counter()
        line.update(call())
        line.update(wall_s=time.perf_counter() - wall, cpu_s=time.process_time() - cpu, peak_mb=resident_mb())
    except Exception as error:
        line["error"] = f"{type(error).__name__}: {error}".strip(": ")
    print(json.dumps(line))


if __name__ == "__main__":
    main()
