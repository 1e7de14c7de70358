"""Answers of accountants."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, localcontext
from typing import Any, ClassVar

from .._core import Result
from .shown import bracket, plain, rounded_down, rounded_up


def _bound(value: float | None) -> float:
    """An upper bound; JSON has no infinite one."""
    return math.inf if value is None else value


class _Number(Result):
    """A result that is a number, too."""

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self._data,))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Result):
            return type(self) is type(other) and self._data == other._data
        return bool(self._value() == other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(self._value())

    def __str__(self) -> str:
        return repr(self._value())

    def __format__(self, spec: str) -> str:
        # A bound stays a bound when it is shown with fewer digits.
        if not spec:
            return str(self)
        with localcontext() as context:
            context.rounding = self._rounding
            return format(Decimal(self._value()), spec)

    _rounding: ClassVar[str] = ROUND_CEILING

    def _value(self) -> float:
        raise NotImplementedError


class EpsilonBounds(_Number, float):
    """Upper and lower bounds on ε at a δ. It is a number: the upper bound, which is what holds.

    ``lower`` is an ε that is certainly lost; 0 if none is known. ``accountant`` is the accountant that
    gives the upper bound, and ``direction`` is the worse of ``"remove"`` and ``"add"``. Formatting rounds
    up.

    >>> from reticent.accounting import Gaussian
    >>> epsilon = Gaussian(5).epsilon(delta=1e-6)
    >>> f"{epsilon:.3f}"
    '0.835'
    >>> 0.834 < epsilon.lower <= epsilon < 0.835
    True
    """

    _title: ClassVar[str] = "Bounds on ε"

    epsilon: float
    lower: float
    upper: float
    delta: float
    accountant: str
    neighboring: str
    direction: str

    def __new__(cls, data: Mapping[str, Any]) -> EpsilonBounds:
        return float.__new__(cls, _bound(data["upper"]))

    def _value(self) -> float:
        return _bound(self._data["upper"])

    def _rows(self) -> list[tuple[str, str]]:
        own = self._data
        return [
            ("guarantee", f"ε ≤ {rounded_up(self._value())} at δ = {plain(own['delta'])}"),
            ("ε", bracket(own["lower"], self._value())),
            ("accountant", own["accountant"]),
            ("neighboring", own["neighboring"]),
        ]


class DeltaBounds(_Number, float):
    """Upper and lower bounds on δ at an ε. It is a number: the upper bound, which is what holds.

    >>> from reticent.accounting import Gaussian
    >>> delta = Gaussian(5).delta(epsilon=1.0)
    >>> delta.lower <= delta == delta.upper < 1e-7
    True
    """

    _title: ClassVar[str] = "Bounds on δ"

    delta: float
    lower: float
    upper: float
    epsilon: float
    accountant: str
    neighboring: str
    direction: str

    def __new__(cls, data: Mapping[str, Any]) -> DeltaBounds:
        return float.__new__(cls, _bound(data["upper"]))

    def _value(self) -> float:
        return _bound(self._data["upper"])

    def _rows(self) -> list[tuple[str, str]]:
        own = self._data
        return [
            ("guarantee", f"δ ≤ {rounded_up(self._value())} at ε = {plain(own['epsilon'])}"),
            ("δ", bracket(own["lower"], self._value())),
            ("accountant", own["accountant"]),
            ("neighboring", own["neighboring"]),
        ]


class _Solved(_Number):
    epsilon: float
    delta: float
    accountant: str
    neighboring: str
    achieved: dict[str, float]

    def _shown(self) -> str:
        raise NotImplementedError

    def _rows(self) -> list[tuple[str, str]]:
        own = self._data
        achieved = own["achieved"]
        return [
            (self._title, self._shown()),
            ("budget", f"ε = {plain(own['epsilon'])}, δ = {plain(own['delta'])}"),
            ("achieved ε", bracket(achieved["lower"], achieved["upper"])),
            ("accountant", own["accountant"]),
            ("neighboring", own["neighboring"]),
        ]

    def __repr__(self) -> str:
        rows = self._rows()
        width = max(len(name) for name, _ in rows)
        return "\n".join(f"{name:<{width}}  {value}" for name, value in rows)


class NoiseMultiplier(_Solved, float):
    """The least noise multiplier that meets a budget. It is a number; formatting rounds up.

    ``achieved`` has the lower and upper bounds on ε with that noise.

    >>> from reticent.accounting import noise_multiplier
    >>> noise = noise_multiplier(target_epsilon=2, target_delta=1e-5, sample_rate=0.01, steps=100)
    >>> noise.achieved["upper"] <= 2
    True
    """

    _title: ClassVar[str] = "noise multiplier"

    noise_multiplier: float

    def __new__(cls, data: Mapping[str, Any]) -> NoiseMultiplier:
        return float.__new__(cls, data["noise_multiplier"])

    def _value(self) -> float:
        return self._data["noise_multiplier"]  # type: ignore[no-any-return]

    def _shown(self) -> str:
        return rounded_up(self._value(), 6)


class SamplingRate(_Solved, float):
    """The largest sampling rate within a budget. It is a number; formatting rounds down.

    ``achieved`` has the lower and upper bounds on ε at that rate.

    >>> from reticent.accounting import rate
    >>> largest = rate(target_epsilon=2, target_delta=1e-5, noise_multiplier=1.1, steps=100)
    >>> largest.achieved["upper"] <= 2
    True
    """

    _title: ClassVar[str] = "sampling rate"
    _rounding: ClassVar[str] = ROUND_FLOOR

    sampling_rate: float

    def __new__(cls, data: Mapping[str, Any]) -> SamplingRate:
        return float.__new__(cls, data["sampling_rate"])

    def _value(self) -> float:
        return self._data["sampling_rate"]  # type: ignore[no-any-return]

    def _shown(self) -> str:
        return rounded_down(self._value(), 6)


class Steps(_Solved, int):
    """The largest number of steps within a budget, or of times that all events fit. It is a whole number.

    ``achieved`` has the lower and upper bounds on ε after that many.

    >>> from reticent.accounting import steps
    >>> count = steps(target_epsilon=2, target_delta=1e-5, noise_multiplier=1.1, sample_rate=0.01)
    >>> isinstance(count, int), count.achieved["upper"] <= 2
    (True, True)
    """

    _title: ClassVar[str] = "steps"

    steps: int

    def __new__(cls, data: Mapping[str, Any]) -> Steps:
        return int.__new__(cls, data["steps"])

    def _value(self) -> int:
        return self._data["steps"]  # type: ignore[no-any-return]

    def _shown(self) -> str:
        return str(self._value())

    def __format__(self, spec: str) -> str:
        return format(self._value(), spec)


class RenyiCurve(Result):
    """Upper bounds on Rényi divergences.

    ``rdp`` has one for each of ``orders``; infinity where no finite bound is known. With a δ, ``epsilon``
    is the upper bound at ``best_order``, the best of all orders.

    >>> from reticent.accounting import Gaussian
    >>> curve = Gaussian(2).rdp(orders=[2, 8, float("inf")])
    >>> curve.orders, [round(value, 6) for value in curve.rdp]
    ([2.0, 8.0, inf], [0.25, 1.0, inf])
    """

    _title: ClassVar[str] = "Rényi divergences"

    accountant: str
    neighboring: str

    @property
    def orders(self) -> list[float]:
        """The orders, as they were given."""
        return [float(order) for order in self._data["orders"]]

    @property
    def rdp(self) -> list[float]:
        """The upper bound at each order."""
        return [math.inf if value is None else value for value in self._data["rdp"]]

    def _rows(self) -> list[tuple[str, str]]:
        own = self._data
        pairs = zip(self.orders, self.rdp)
        rows = [(f"order {order:g}", rounded_up(value)) for order, value in pairs]
        if "epsilon" in own:
            best = f"at order {own['best_order']:.4g}"
            epsilon = rounded_up(own["epsilon"])
            rows.append(("guarantee", f"ε ≤ {epsilon} at δ = {plain(own['delta'])}, {best}"))
        return [*rows, ("neighboring", own["neighboring"])]


class Tradeoff(Result):
    """What an attacker can achieve.

    At each false-positive rate ``fpr`` no attack has a false-negative rate below ``fnr``.

    >>> from reticent.accounting import Gaussian
    >>> rates = Gaussian(1).tradeoff(fpr=[0.05])
    >>> round(rates.fnr[0], 3)
    0.74
    """

    _title: ClassVar[str] = "Trade-off: least false-negative rate of any attack"

    fpr: list[float]
    fnr: list[float]
    accountant: str
    neighboring: str

    def _rows(self) -> list[tuple[str, str]]:
        pairs = zip(self._data["fpr"], self._data["fnr"])
        rows = [
            (f"FPR {plain(fpr)}", f"FNR ≥ {rounded_down(fnr)}, TPR ≤ {rounded_up(1.0 - fnr)}")
            for fpr, fnr in pairs
        ]
        return [*rows, ("neighboring", self._data["neighboring"])]


class ReconstructionRates(Result):
    """How often a record, or an attribute of one, can be recovered.

    An attack that succeeds with probability ``prior`` against a release without the record succeeds with
    probability at most ``success`` against the release; ``advantage`` is the difference.
    ``largest_advantage`` holds for every prior.

    >>> from reticent.accounting import Pure
    >>> rates = Pure(1).reconstruction([0.01])
    >>> round(rates.success[0], 4), round(rates.largest_advantage, 3)
    (0.0272, 0.462)
    """

    _title: ClassVar[str] = "Reconstruction: largest probability of success of any attack"

    prior: list[float]
    success: list[float]
    advantage: list[float]
    largest_advantage: float
    accountant: str
    neighboring: str

    def _rows(self) -> list[tuple[str, str]]:
        own = self._data
        rows = [
            (f"prior {plain(prior)}", f"success ≤ {rounded_up(success)}, advantage ≤ {rounded_up(advantage)}")
            for prior, success, advantage in zip(own["prior"], own["success"], own["advantage"])
        ]
        any_prior = ("any prior", f"advantage ≤ {rounded_up(own['largest_advantage'])}")
        return [*rows, any_prior, ("neighboring", own["neighboring"])]


class GroupGuarantee(Result):
    """The guarantee of a group that changes together: an upper bound ``epsilon`` at ``delta``.

    If all that is known is a Rényi divergence at one order, ``order`` and ``rdp`` take their place.

    >>> from reticent.accounting import Pure
    >>> Pure(0.1).group(3).epsilon < 0.3001
    True
    """

    _title: ClassVar[str] = "Group privacy"

    size: int
    accountant: str
    neighboring: str

    def _rows(self) -> list[tuple[str, str]]:
        own = self._data
        if "epsilon" in own:
            rows = [("guarantee", f"ε ≤ {rounded_up(own['epsilon'])} at δ = {plain(own['delta'])}")]
        else:
            divergence = f"Rényi divergence ≤ {rounded_up(own['rdp'])}"
            rows = [("guarantee", f"{divergence} at order {plain(own['order'])}")]
        if "lower" in own:
            rows.append(("ε", bracket(own["lower"], own["upper"])))
        return [
            *rows,
            ("group of", str(own["size"])),
            ("accountant", own["accountant"]),
            ("neighboring", own["neighboring"]),
        ]


class OutcomeBounds(Result):
    """Bounds on the probability of an outcome without the record: ``lower`` and ``upper``.

    >>> from reticent.accounting import Pure
    >>> bounds = Pure(1).outcome(0.05)
    >>> bounds.lower < 0.05 < bounds.upper
    True
    """

    _title: ClassVar[str] = "Probability of the outcome without the record"

    lower: float
    upper: float
    probability: float
    neighboring: str

    def _rows(self) -> list[tuple[str, str]]:
        own = self._data
        return [
            ("with the record", plain(own["probability"])),
            ("without it", f"from {rounded_down(own['lower'])} to {rounded_up(own['upper'])}"),
            ("neighboring", own["neighboring"]),
        ]


class Beliefs(Result):
    """How far an output can move a belief about one person.

    ``claims`` has one entry for each claim, or one for the events, each with its ``beliefs``: ``prior``,
    ``lower`` and ``upper``. ``failure_probability`` is the probability with which each end may fail.

    >>> from reticent.accounting import Pure
    >>> Pure(1).posterior(0.5).failure_probability
    0.0
    """

    _title: ClassVar[str] = "Beliefs after an output"

    claims: list[dict[str, Any]]
    failure_probability: float
    neighboring: str | None
    odds: list[dict[str, Any]]

    def _rows(self) -> list[tuple[str, str]]:
        rows = []
        for claim in self._data["claims"]:
            for belief in claim["beliefs"]:
                what = f"ε = {rounded_up(claim['epsilon'])}, prior {plain(belief['prior'])}"
                ends = f"from {rounded_down(belief['lower'])} to {rounded_up(belief['upper'])}"
                rows.append((what, f"posterior {ends}"))
        failure = self._data["failure_probability"]
        return [*rows, ("failure probability", plain(failure))]


class Comparison(Result):
    """ε by every accountant: ``accountants``, from the tightest to the loosest.

    ``epsilons`` maps their names to their upper bounds. ``not_bounds`` has published numbers that are not
    bounds.

    >>> from reticent.accounting import Laplace
    >>> compared = (Laplace(20) * 100).compare(delta=1e-6)
    >>> min(compared.epsilons, key=compared.epsilons.get)
    'pld'
    """

    _title: ClassVar[str] = "ε by accountant"

    accountants: list[dict[str, Any]]
    delta: float
    neighboring: str

    @property
    def epsilons(self) -> dict[str, float]:
        """The upper bound of each accountant that has one."""
        rows = self._data["accountants"]
        return {row["accountant"]: row["epsilon"] for row in rows if row["epsilon"] is not None}

    def _rows(self) -> list[tuple[str, str]]:
        rows = []
        for row in self._data["accountants"]:
            value = row["reason"] if row["epsilon"] is None else f"ε ≤ {rounded_up(row['epsilon'])}"
            by = f" (by {row['answered_by']})" if row.get("answered_by") else ""
            rows.append((row["accountant"], f"{value}{by}"))
        for name, value in (self._data.get("not_bounds") or {}).items():
            if value is not None:
                rows.append((name.replace("_", " "), f"{value:.4g} (not a bound)"))
        return [("δ", plain(self._data["delta"])), *rows, ("neighboring", self._data["neighboring"])]


class Statement(Result):
    """A paragraph about the guarantee for a paper or a model card: ``str(statement)``.

    >>> from reticent.accounting import Gaussian
    >>> text = str(Gaussian(5).statement(delta=1e-6, unit="patient"))
    >>> "with respect to one patient being added or removed" in text
    True
    """

    _title: ClassVar[str] = "Privacy statement"

    statement: str
    epsilon: float
    lower: float
    upper: float
    delta: float
    accountant: str
    neighboring: str
    unit: str

    def __str__(self) -> str:
        return self._data["statement"]  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(str(self))}</p>"


class FormulaResult(Result):
    """The numbers of a formula; see :func:`reticent.accounting.formula`.

    >>> from reticent.accounting import formula
    >>> formula("random-record", dataset_size=1000).neighboring
    'replace-one'
    """

    _title: ClassVar[str] = "Formula"

    def _rows(self) -> list[tuple[str, str]]:
        rows = []
        for name, value in self._data.items():
            if isinstance(value, list):
                rows += [(name if place == 0 else "", _listed(entry)) for place, entry in enumerate(value)]
            elif value is not None:
                rows.append((name, _listed(value)))
        return rows


def _listed(value: Any) -> str:
    """A value of a formula with all its digits."""
    if isinstance(value, dict):
        return ", ".join(f"{name} {_listed(own)}" for name, own in value.items())
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "–"}[value]
    return plain(value) if isinstance(value, float) else str(value)
