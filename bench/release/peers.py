"""The same statistics by OpenDP, and by the plain recipe of a private SQL engine, at the same total budget.

OpenDP is asked through its Polars interface, one query a statistic, with the budget split evenly. The plain recipe releases a count
and a sum for every statistic that needs them, each with its own noise, with the budget split equally (as Tumult Analytics does without
being told otherwise): a mean is a noisy sum of values around the middle of their bounds over a noisy count. Both protect the same people
with the same limits, on the same bounded table.
"""

import math
import warnings

import numpy as np
import opendp.prelude as dp
import polars as pl

dp.enable_features("contrib")
warnings.filterwarnings("ignore", category=FutureWarning)


def laplace(generator, scale, shape):
    return generator.laplace(0.0, scale, shape)


def gaussian_rho(epsilon, delta):
    """The largest ρ of zero-concentrated privacy that implies (ε, δ) by ε = ρ + 2 √(ρ ln 1/δ)."""
    return (math.sqrt(math.log(1 / delta) + epsilon) - math.sqrt(math.log(1 / delta))) ** 2


class Plain:
    """Count and sum separately, equal split."""

    name = "plain recipe"

    def __init__(self, case):
        self.case, self.generator = case, np.random.default_rng()
        self.reach = case["rows"] * case["groups"]
        self.euclid = case["rows"] * math.sqrt(case["groups"])

    def noise(self, share, width, shape):
        """Noise for a share of the budget on sums whose row adds at most `width`."""
        if self.case["delta"] is None:
            return laplace(self.generator, width * self.reach / (self.case["epsilon"] * share), shape)
        rho = gaussian_rho(self.case["epsilon"], self.case["delta"]) * share
        return self.generator.normal(0.0, width * self.euclid / math.sqrt(2 * rho), shape)

    def run(self, exact, sizes):
        """One release of the whole page: (group, question, cell) to an estimate."""
        questions, found = self.case["questions"], {}
        share = 1.0 / len(questions)
        for question in questions:
            for key in (key for key in exact if key[1] == question["name"]):
                found[key] = self.estimate(question, share, exact[key], sizes[key[0]])
        return found

    def estimate(self, question, share, value, size):
        kind = question["kind"]
        if kind in ("count", "histogram"):
            return value + self.noise(share, 1.0, None)
        low, high = question["bounds"]
        half, middle = 0.5 * (high - low), 0.5 * (high + low)
        if kind == "sum":
            return value + self.noise(share, max(abs(low), abs(high)), None)
        if kind == "mean":
            count = size + self.noise(share / 2, 1.0, None)
            return middle + ((value - middle) * size + self.noise(share / 2, half, None)) / max(count, 1.0)
        if kind == "variance":
            # Sum of squares, sum and count: three queries, each with a third.
            count = max(size + self.noise(share / 3, 1.0, None), 1.0)
            mean = question["mean_of"]
            first = ((mean - middle) * size + self.noise(share / 3, half, None)) / count
            second = ((value + (mean - middle) ** 2) * size + self.noise(share / 3, half**2, None)) / count
            return max(second - first**2, 0.0)
        return None


class OpenDp:
    """One query a statistic through the Polars interface, split evenly."""

    name = "OpenDP"

    def __init__(self, case, table):
        self.case, self.table = case, table

    def run(self, _exact, _sizes):
        case, by = self.case, self.case["by"]
        loss = (
            dp.loss_of(epsilon=case["epsilon"])
            if case["delta"] is None
            else dp.loss_of(epsilon=case["epsilon"], delta=case["delta"])
        )
        margin = dp.polars.Margin(by=[by], max_length=400_000, max_groups=32, invariant="keys")
        asked = [own for own in case["questions"] if own["kind"] in ("count", "mean", "sum", "histogram")]
        context = dp.Context.compositor(
            data=self.table.lazy(),
            privacy_unit=dp.unit_of(contributions=case["rows"] * case["groups"]),
            privacy_loss=loss,
            split_evenly_over=len(case["questions"]),
            margins=[margin],
        )
        found = {}
        for question in asked:
            for key, value in self.answer(context, question, by):
                found[key] = value
        return found

    def answer(self, context, question, by):
        kind, name = question["kind"], question["name"]
        if kind == "count":
            frame = context.query().group_by(by).agg(dp.len()).release().collect()
            return [((group, name, None), float(count)) for group, count in frame.select(by, "len").iter_rows()]
        if kind == "histogram":
            return []
        low, high = question["bounds"]
        column = pl.col(question["column"]).fill_null(0.0).fill_nan(0.0)
        total = context.query().group_by(by).agg(dp.len(), column.dp.sum((low, high)).alias("total"))
        rows = total.release().collect().select(by, "len", "total").iter_rows()
        if kind == "sum":
            return [((group, name, None), total) for group, _, total in rows]
        return [((group, name, None), total / max(count, 1)) for group, count, total in rows]
