"""Make vectors.json: reference values for the accountant.

    python vectors.py

Needs mpmath and nothing else, and takes some minutes. Every parameter is a double and enters the arithmetic
exactly as such; values are printed with 25 digits.
"""

import json
import pathlib

import oracle as o
from mpmath import binomial, exp, expm1, log1p, mp, mpf, sqrt

DIGITS = 25

cases = []


def written(value):
    return str(value) if isinstance(value, int) else mp.nstr(mpf(value), DIGITS)


def case(kind, question, exact=None, between=None, claim=None):
    """One of: the exact answer; a floor and a ceiling; an epsilon and a delta."""
    expect = {"between": between, "claim": claim}
    expect = {name: [written(value) for value in pair] for name, pair in expect.items() if pair}
    if exact is not None:
        expect["exact"] = written(exact)
    number = 1 + sum(1 for known in cases if known["kind"] == kind)
    cases.append({"id": f"{kind}-{number}", "kind": kind, "question": question, "expect": expect})
    print(cases[-1]["id"], expect, flush=True)


# Events and questions on the wire


def log_of(*events, neighboring="add-remove"):
    return {"neighboring": neighboring, "events": list(events)}


def replacing(*events):
    return log_of(*events, neighboring="replace-one")


def gaussian(sigma):
    return {"gaussian": {"noise_multiplier": sigma}}


def laplace(scale):
    return {"laplace": {"noise_multiplier": scale}}


def pure(epsilon):
    return {"pure": {"epsilon": epsilon}}


def response(keep, categories):
    return {"randomized_response": {"keep_probability": keep, "categories": categories}}


def repeated(count, event):
    return {"repeated": {"count": count, "event": event}}


def poisson(rate, event):
    return {"poisson_sampled": {"rate": rate, "event": event}}


def batches(size, batch, event):
    return {"sampled_without_replacement": {"dataset_size": size, "batch_size": batch, "event": event}}


def steps_of(rate, sigma, steps):
    return log_of(repeated(steps, poisson(rate, gaussian(sigma))))


def ask_epsilon(log, delta, accountant="pld"):
    return {"epsilon": {"log": log, "delta": delta, "accountant": accountant}}


def ask_delta(log, epsilon):
    return {"delta": {"log": log, "epsilon": epsilon}}


def ask_rdp(log, order):
    return {"rdp": {"log": log, "order": order}}


def ask_trade_off(log, fpr):
    return {"trade_off": {"log": log, "fpr": fpr}}


# The cases


def gaussians():
    for sigma, epsilon in ((0.8, 1.7), (7.0, 0.9), (30.0, 0.05)):
        exact = o.gaussian_delta(mpf(sigma), mpf(epsilon))
        case("gaussian_delta", ask_delta(log_of(gaussian(sigma)), epsilon), exact)
    for sigma, delta in ((1.3, 1e-7), (0.3, 1e-9), (50.0, 1e-4)):
        exact = o.gaussian_epsilon(sigma, delta)
        case("gaussian_epsilon", ask_epsilon(log_of(gaussian(sigma)), delta), exact)
    for epsilon, delta in ((0.7, 1e-8), (8.0, 1e-5), (0.05, 1e-6)):
        question = {"noise_multiplier": {"rate": 1.0, "steps": 1, "epsilon": epsilon, "delta": delta}}
        case("gaussian_sigma", question, o.gaussian_sigma(epsilon, delta))
    # A clipped sum under replace-one moves by twice the clipping norm.
    exact = o.gaussian_epsilon(0.75, 1e-7)
    case("replace_one", ask_epsilon(replacing(gaussian(1.5 / 2)), 1e-7), exact)
    exact = o.gaussian_epsilon(1.5 / 4, 1e-7)
    case("replace_one", ask_epsilon(replacing(repeated(16, gaussian(3.0 / 2))), 1e-7), exact)
    for mu, delta in ((0.6, 1e-6), (2.5, 1e-8)):
        exact = o.gaussian_epsilon(1 / mpf(mu), delta)
        case("gdp", ask_epsilon(log_of({"gdp": {"mu": mu}}), delta), exact)
    for sigma, steps, delta, order in ((4.0, 300, 1e-6, 7.5),):
        tree, levels = {"tree_aggregation": {"noise_multiplier": sigma, "steps": steps}}, steps.bit_length()
        exact = o.gaussian_epsilon(sigma / sqrt(levels), delta)
        case("tree", ask_epsilon(log_of(tree), delta), exact)
        case("tree_rdp", ask_rdp(log_of(tree), order), levels * mpf(order) / (2 * mpf(sigma) ** 2))
    for rate, sigma, epsilon in ((0.03, 0.9, 0.4), (0.25, 2.0, 0.3)):
        q, s = mpf(rate), mpf(sigma)
        x = mpf("0.5") + s**2 * log1p(expm1(mpf(epsilon)) / q)
        exact = (1 - q) * o.tail(x / s) + q * o.tail((x - 1) / s) - exp(mpf(epsilon)) * o.tail(x / s)
        case("one_step", ask_delta(log_of(poisson(rate, gaussian(sigma))), epsilon), exact)
    for rate, scale, epsilon in ((0.05, 0.5, 0.2),):
        exact = o.sampled_laplace_delta(rate, scale, epsilon)
        case("sampled_laplace", ask_delta(log_of(poisson(rate, laplace(scale))), epsilon), exact)


def curves():
    for scale, order in ((3.0, 1.7), (0.7, 12.0), (10.0, 1.01), (1.4, 300.0)):
        case("laplace_rdp", ask_rdp(log_of(laplace(scale)), order), o.laplace_rdp(scale, order))
    exact = mpf(1) / 3 + exp(-mpf(1) / 3) - 1
    case("laplace_rdp", {"kullback_leibler": {"event": laplace(3.0)}}, exact)
    for keep, order in ((0.7, 2.3), (0.55, 40.0)):
        case("response_rdp", ask_rdp(log_of(response(keep, 2)), order), o.response_rdp(keep, 2, order))
    for keep, categories, order in ((0.4, 6, 3.5), (0.9, 20, 1.6)):
        exact = o.response_rdp(keep, categories, order)
        case("kary_rdp", ask_rdp(replacing(response(keep, categories)), order), exact)
    for epsilon, order in ((0.3, 2.5), (4.0, 20.0)):
        case("pure_rdp", ask_rdp(log_of(pure(epsilon)), order), o.pure_rdp(epsilon, order))
    # Whole, fractional and huge orders, and rates so small that the divergence is near 1e-14.
    orders = [(0.02, 0.9, 5.0), (0.3, 3.0, 64.0), (0.001, 0.5, 17.0), (0.05, 1.2, 1.3), (0.004, 0.7, 2.7)]
    orders += [(0.2, 4.0, 1.05), (0.6, 1.5, 3.4), (0.001, 50.0, 10000.0), (0.0002, 40.0, 4000.5)]
    orders += [(1e-7, 2.0, 3.0), (1e-7, 1.0, 1.5)]
    for rate, sigma, order in orders:
        exact = o.sampled_rdp(rate, sigma, order)
        case("sampled_gaussian_rdp", ask_rdp(steps_of(rate, sigma, 1), order), exact)
    mixtures = [([0.0, 1.0, 2.0], [0.875, 0.0625, 0.0625], 2.5, 4.5), ([1.0, 3.0], [0.75, 0.25], 6.0, 12.0)]
    for shifts, weights, sigma, order in mixtures:
        fields = {"sensitivities": shifts, "probabilities": weights, "noise_multiplier": sigma}
        exact = o.mixture_rdp(shifts, weights, sigma, order)
        case("mixture_rdp", ask_rdp(log_of({"mixture_of_gaussians": fields}), order), exact)
    for size, batch, sigma, order in ((5000, 40, 4.0, 6), (800, 80, 8.0, 12)):
        log = replacing(batches(size, batch, gaussian(sigma)))
        # No better than Poisson sampling: where one of the two records is all zeros, it is that.
        between = (
            o.sampled_rdp(mpf(batch) / size, sigma, order),
            o.without_replacement_rdp(size, batch, sigma, order),
        )
        case("without_replacement_rdp", ask_rdp(log, float(order)), between=between)


def conversions():
    log = replacing(repeated(1500, batches(5000, 40, gaussian(4.0))))
    low = o.worst(o.training(mpf(40) / 5000, 4.0, 1500), lambda way: way.epsilon(1e-6))
    curve = [(mpf(a), 1500 * o.without_replacement_rdp(5000, 40, 4.0, a)) for a in range(2, 65)]
    high = min(o.canonne(divergence, a, mpf(1e-6)) for a, divergence in curve)
    case("without_replacement_epsilon", ask_epsilon(log, 1e-6), between=(low, high))
    for order, divergence, delta in ((6.0, 0.8, 1e-7), (50.0, 0.02, 1e-4)):
        question = {"conversion": {"order": order, "divergence": divergence, "delta": delta}}
        case("rdp_to_dp", question, o.canonne(mpf(divergence), mpf(order), mpf(delta)))
    for rho, delta in ((0.03, 1e-8), (2.0, 1e-5)):
        # Gaussian noise is a mechanism of that kind.
        between = (o.gaussian_epsilon(1 / sqrt(2 * mpf(rho)), delta), o.zcdp_epsilon(mpf(rho), mpf(delta)))
        case("zcdp", ask_epsilon(log_of({"zcdp": {"rho": rho}}), delta), between=between)
    for rate, sigma, steps, delta in ((0.02, 1.2, 2500, 1e-6), (0.1, 0.7, 1000, 1e-5)):
        exact = o.renyi_epsilon(rate, sigma, steps, delta)
        case("renyi_epsilon", ask_epsilon(steps_of(rate, sigma, steps), delta, "rdp"), exact)
    for rate, sigma, steps, delta in ((0.01, 4.0, 2000, 1e-5), (0.005, 2.0, 5000, 1e-6)):
        exact = o.moments_epsilon(rate, sigma, steps, delta)
        case("moments", ask_epsilon(steps_of(rate, sigma, steps), delta, "moments"), exact)
        fields = {"rate": rate, "noise_multiplier": sigma, "steps": steps, "delta": delta}
        exact = o.strong_composition(rate, sigma, steps, delta)
        case("strong_composition", {"strong_composition": fields}, exact)
    for order, divergence, probability in ((4.0, 0.2, 0.001), (32.0, 0.05, 0.3)):
        a, e, p = mpf(order), mpf(divergence), mpf(probability)
        question = {"outcome": {"order": order, "divergence": divergence, "probability": probability}}
        case("bad_outcome", question, between=(exp(-e) * p ** (a / (a - 1)), (exp(e) * p) ** ((a - 1) / a)))


def outcomes():
    for scale, count, epsilon in ((1.5, 4, 0.8), (6.0, 6, 0.3)):
        exact = o.laplace_composed_delta(scale, count, epsilon)
        case("laplace_composed_delta", ask_delta(log_of(repeated(count, laplace(scale))), epsilon), exact)
    for scale, count, delta in ((3.0, 3, 0.02), (8.0, 5, 0.001)):
        def excess(e):
            return o.laplace_composed_delta(scale, count, e) - delta

        exact = o.root(excess, mpf(0), count / mpf(scale), 90)
        case("laplace_composed_epsilon", ask_epsilon(log_of(repeated(count, laplace(scale))), delta), exact)
    for keep, categories, count, delta in ((0.4, 6, 25, 1e-5), (0.3, 5, 60, 1e-7)):
        exact = o.epsilon_of_outcomes(o.response_outcomes(keep, categories, count), mpf(delta))
        case("kary_composed", ask_epsilon(replacing(repeated(count, response(keep, categories))), delta), exact)
    for epsilon, delta, count, total in ((0.05, 0.0, 200, 1e-7), (0.2, 1e-8, 30, 1e-5), (1.5, 1e-4, 4, 1e-2)):
        inner = o.without_deltas([delta] * count, total)
        exact = o.epsilon_of_outcomes(o.pure_outcomes(epsilon, count), inner)
        case("kov", {"optimal": {"claims": [[epsilon, delta]] * count, "delta": total}}, exact)
        event = {"approximate": {"epsilon": epsilon, "delta": delta}}
        case("approximate", ask_epsilon(log_of(repeated(count, event)), total), exact)
    four = [[0.15, 0.0], [0.4, 1e-6], [0.05, 0.0], [0.6, 2e-6]]
    twelve = [[0.02 * i, 0.0] for i in range(1, 13)]
    for claims, total in ((four, 1e-3), (twelve, 1e-5)):
        inner = o.without_deltas([d for _, d in claims], total)
        exact = o.epsilon_of_outcomes(o.subset_outcomes([e for e, _ in claims]), inner)
        case("mv", {"optimal": {"claims": claims, "delta": total}}, exact)
    for epsilon, count, delta in ((0.1, 80, 1e-6), (0.5, 12, 1e-5)):
        # Between two candidates the mechanism is randomized response with half the range; any is zCDP.
        low = o.epsilon_of_outcomes(o.pure_outcomes(mpf(epsilon) / 2, count), mpf(delta))
        high = min(o.zcdp_epsilon(count * mpf(epsilon) ** 2 / 8, mpf(delta)), count * mpf(epsilon))
        log = log_of(repeated(count, {"exponential": {"epsilon": epsilon}}))
        case("exponential", ask_epsilon(log, delta), between=(low, high))
    for sigma, epsilon in ((1.5, 0.7), (5.0, 0.2)):
        exact = o.delta_of_outcomes(o.discrete_gaussian_outcomes(sigma), mpf(epsilon))
        log = log_of({"discrete_gaussian": {"noise_multiplier": sigma, "sensitivity": 1.0}})
        case("discrete_gaussian", ask_delta(log, epsilon), exact)
    for sigma, epsilon in ((1.5, 0.7), (0.5, 2.0)):
        # Two integers that each move by one: a sensitivity just above the root of 2.
        outcomes = o.discrete_gaussian_outcomes(sigma)
        exact = o.delta_of_outcomes(o.together(outcomes, outcomes), mpf(epsilon))
        apart = 1.4142135623730951
        log = log_of({"discrete_gaussian": {"noise_multiplier": sigma / apart, "sensitivity": apart}})
        case("discrete_gaussian", ask_delta(log, epsilon), exact)
    for scale, epsilon in ((3.0, 0.1),):
        # One step apart, discrete Laplace noise loses exactly 1/scale either way.
        share = 1 / (1 + exp(-1 / mpf(scale)))
        log = log_of({"discrete_laplace": {"noise_multiplier": scale}})
        case("discrete_laplace", ask_delta(log, epsilon), share * -expm1(mpf(epsilon) - 1 / mpf(scale)))
    for scale, moved, epsilon in ((6.0, 2, 0.1), (2.0, 8, 1.3)):
        exact = o.delta_of_outcomes(o.discrete_laplace_outcomes(scale, moved), mpf(epsilon))
        log = log_of({"discrete_laplace": {"noise_multiplier": scale / moved, "sensitivity": moved}})
        case("discrete_laplace", ask_delta(log, epsilon), exact)
    for rate, sigma, epsilon in ((0.01, 1.0, 0.05), (0.3, 0.6, 2.0), (0.0001, 2.0, 1e-05)):
        log = replacing(poisson(rate, {"clipped_sum": {"noise_multiplier": sigma}}))
        case("replaced_delta", ask_delta(log, epsilon), o.replaced_delta(rate, sigma, epsilon))
    for rate, sigma, order in ((0.01, 1.0, 4.0), (0.3, 0.6, 1.5), (0.0001, 2.0, 30.0)):
        log = replacing(poisson(rate, {"clipped_sum": {"noise_multiplier": sigma}}))
        case("replaced_rdp", ask_rdp(log, order), o.replaced_rdp(rate, sigma, order))
    for steps, sigma, epsilon in ((2000, 0.5, 3.0), (500, 0.8, 1.0)):
        log = log_of({"shuffled": {"steps_per_epoch": steps, "epochs": 1, "event": gaussian(sigma)}})
        between = (o.shuffled_floor(steps, sigma, epsilon), o.gaussian_delta(mpf(sigma), mpf(epsilon)))
        case("shuffled", ask_delta(log, epsilon), between=between)


def claims():
    parts = [[0.75, 0.0], [0.25, 1e-7], [0.5, 1e-8]]
    pairs = (("add-remove", (0.75, mpf(1e-7))), ("replace-one", (1.25, mpf(1e-7) + mpf(1e-8))))
    for neighboring, claim in pairs:
        case("parallel", {"parallel": {"claims": parts, "neighboring": neighboring}}, claim=claim)
    for epsilon, delta, size in ((0.25, 1e-7, 5), (1.5, 1e-9, 4)):
        e = mpf(epsilon)
        claim = (size * e, mpf(delta) * expm1(size * e) / expm1(e))
        case("group", {"group": {"claim": [epsilon, delta], "size": size}}, claim=claim)


def training():
    settings = [(0.02, 1.2, 2500, 1e-6), (0.004, 0.75, 20_000, 1e-6), (0.25, 3.0, 400, 1e-5)]
    settings += [(0.1, 0.9, 50, 1e-8), (0.0005, 1.0, 200_000, 1e-7), (0.0001, 0.8, 10_000_000, 1e-7)]
    settings += [(0.5, 8.0, 5000, 1e-6), (0.002, 6.0, 1500, 1e-5)]
    tiny = [(0.02, 1.2, 2500, 1e-15), (0.02, 1.2, 2500, 1e-20), (0.1, 5.0, 3000, 1e-25)]
    tiny += [(0.004, 0.75, 20_000, 1e-30)]
    for kind, listed in (("training_epsilon", settings), ("tiny_delta", tiny)):
        for rate, sigma, steps, delta in listed:
            exact = o.worst(o.training(rate, sigma, steps), lambda way: way.epsilon(delta))
            case(kind, ask_epsilon(steps_of(rate, sigma, steps), delta), exact)
    for rate, sigma, steps, epsilon in ((0.02, 1.2, 2500, 3.0), (0.05, 3.0, 700, 1.0), (0.003, 0.8, 5000, 2.0)):
        log = steps_of(rate, sigma, steps)
        both = [way.delta(epsilon) for way in o.training(rate, sigma, steps)]
        case("training_delta", ask_delta(log, epsilon), max(both))
        for direction, exact in zip(("remove", "add"), both):
            question = {"one_way": {"log": log, "epsilon": epsilon, "direction": direction}}
            case("one_way_delta", question, exact)
    for rate, steps, epsilon, delta in ((0.02, 3000, 2.0, 1e-6), (0.005, 10_000, 0.5, 1e-5), (0.1, 200, 6.0, 1e-8)):
        question = {"noise_multiplier": {"rate": rate, "steps": steps, "epsilon": epsilon, "delta": delta}}
        case("training_sigma", question, o.training_sigma(rate, steps, epsilon, delta))
    for rate, sigma, epsilon, delta in ((0.02, 1.1, 3.0, 1e-6), (0.001, 0.9, 1.0, 1e-5)):
        question = {"steps": {"rate": rate, "noise_multiplier": sigma, "epsilon": epsilon, "delta": delta}}
        case("training_steps", question, o.training_steps(rate, sigma, epsilon, delta))


def mixed():
    lists = [
        ([("gaussian", 6.0, 8), ("poisson", (0.02, 1.3), 1500), ("laplace", 15.0, 4)], 1e-6),
        ([("poisson", (0.01, 0.9), 800), ("poisson", (0.05, 2.0), 600), ("poisson", (0.3, 9.0), 40)], 1e-7),
        ([("gaussian", 3.0, 1), ("laplace", 30.0, 40)], 1e-5),
    ]
    wire = {"gaussian": gaussian, "laplace": laplace, "poisson": lambda p: poisson(p[0], gaussian(p[1]))}
    for parts, delta in lists:
        def make(remove):
            made = {"gaussian": o.Gaussian, "laplace": o.Laplace, "poisson": lambda p: o.sampled(*p, remove)}
            return [(count, made[name](value)) for name, value, count in parts]

        log = log_of(*(repeated(count, wire[name](value)) for name, value, count in parts))
        exact = o.worst(o.two_ways(make), lambda way: way.epsilon(delta))
        case("heterogeneous", ask_epsilon(log, delta), exact)
    for rate, sigma, steps, size, delta in ((0.01, 1.5, 2000, 3, 1e-6), (0.05, 4.0, 500, 2, 1e-5)):
        q = mpf(rate)
        weights = [binomial(size, j) * q**j * (1 - q) ** (size - j) for j in range(size + 1)]

        def mixtures(remove):
            return [(steps, o.Mixture(range(size + 1), weights, sigma, remove))]

        question = {"group_epsilon": {"log": steps_of(rate, sigma, steps), "size": size, "delta": delta}}
        case("group_training", question, o.worst(o.two_ways(mixtures), lambda way: way.epsilon(delta)))


def trade_offs():
    def quantile(fpr):
        return o.root(lambda x: o.tail(x) - fpr, mpf(-40), mpf(40))

    for sigma, fpr in ((1.2, 0.05), (0.6, 0.001)):
        exact = o.phi(quantile(fpr) - 1 / mpf(sigma))
        case("trade_off_gaussian", ask_trade_off(log_of(gaussian(sigma)), fpr), exact)
    for rate, sigma, fpr in ((0.2, 0.8, 0.1),):
        q, s = mpf(rate), mpf(sigma)
        one = (1 - q) * o.phi(quantile(fpr)) + q * o.phi(quantile(fpr) - 1 / s)
        # The other way round: small values speak for the data set without the record.
        below = o.root(lambda t: fpr - (1 - q) * o.phi(t) - q * o.phi(t - 1 / s), mpf(-30), mpf(30))
        log = log_of(poisson(rate, gaussian(sigma)))
        case("trade_off_sampled", ask_trade_off(log, fpr), min(one, o.tail(below)))
    for rate, sigma, steps, fpr in ((0.02, 1.2, 2500, 0.01), (0.1, 3.0, 300, 0.2)):
        exact = min(way.floor(fpr) for way in o.training(rate, sigma, steps))
        case("trade_off_training", ask_trade_off(steps_of(rate, sigma, steps), fpr), exact)


def main():
    for part in (gaussians, curves, conversions, outcomes, claims, training, mixed, trade_offs):
        part()
    path = pathlib.Path(__file__).with_name("vectors.json")
    lines = ",\n".join(json.dumps(one) for one in cases)
    path.write_text(f'{{"made_by": "vectors.py", "cases": [\n{lines}\n]}}\n')


if __name__ == "__main__":
    main()
