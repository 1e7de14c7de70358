"""What mechanisms give back: the noisy value, and what it cost."""

from __future__ import annotations

import decimal
import json
import math
from typing import Any, ClassVar, NoReturn

import numpy as np

from .._core import Result, at_most, number, percent

_Cost = tuple[str, float, float]
_SHOWN = {
    "laplace": "Laplace",
    "gaussian": "Gaussian",
    "student-t": "Student-t",
    "discrete-laplace": "discrete Laplace",
    "discrete-gaussian": "discrete Gaussian",
}
_set = object.__setattr__
_INT64 = np.iinfo(np.int64)
_MOST = float(np.finfo(np.float64).max)
_DOWN, _UP = decimal.ROUND_FLOOR, decimal.ROUND_CEILING


class _Drawn:
    """What was drawn, and what it cost. Cannot be changed."""

    __slots__ = ("_event", "delta", "epsilon", "value")

    value: Any
    epsilon: float
    delta: float
    #: The neighboring relation.
    neighboring: str
    _event: str

    def __init__(self, value: Any, cost: _Cost) -> None:
        _set(self, "value", value)
        _set(self, "_event", cost[0])
        _set(self, "epsilon", cost[1])
        _set(self, "delta", cost[2])

    @property
    def event(self) -> dict[str, Any]:
        """The event, as accountants take it."""
        return json.loads(self._event)  # type: ignore[no-any-return]

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} cannot be changed")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} cannot be changed")

    def __getstate__(self) -> dict[str, Any]:
        kinds = type(self).__mro__
        return {name: getattr(self, name) for kind in kinds for name in getattr(kind, "__slots__", ())}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            _set(self, name, value)

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain data."""
        cost = {"event": self.event, "epsilon": self.epsilon, "delta": self.delta}
        return {"value": _plain(self.value)} | cost | self._more()

    def _more(self) -> dict[str, Any]:
        return {}

    def _cost(self) -> str:
        return f"ε ≤ {at_most(self.epsilon)}, δ ≤ {at_most(self.delta)}, {self.neighboring}"


class Noisy(_Drawn):
    """A number or an array with noise.

    ``value`` has the shape of what was given. ``scale`` is the scale of the noise (σ for Gaussian noise).
    Each number is within ``error`` of the one without noise with probability at least ``confidence``:
    ``interval`` has both ends. A number of at least 2^50 times the scale of its noise may have been cut off
    where the noise's grid ends, so its interval has no ends: divide by a public constant first.
    ``epsilon`` and ``delta`` are the guarantee of the whole array, and ``event``
    is what an accountant composes.

    >>> from reticent import mechanisms
    >>> import numpy as np
    >>> noisy = mechanisms.gaussian(np.zeros((2, 3)), sensitivity=1.0, epsilon=1.0, delta=1e-6)
    >>> noisy.value.shape
    (2, 3)
    >>> low, high = noisy.interval
    >>> bool((low < high).all())
    True
    >>> float(mechanisms.laplace(5, sensitivity=1, epsilon=1.0)) != 5.0
    True
    """

    __slots__ = ("_limit", "confidence", "error", "mechanism", "neighboring", "scale")

    _limit: float
    scale: float
    error: float
    confidence: float
    mechanism: str
    neighboring: str

    def __init__(
        self,
        value: Any,
        cost: _Cost,
        scale: float,
        error: float,
        confidence: float,
        mechanism: str,
        neighboring: str,
        limit: float,
    ) -> None:
        _Drawn.__init__(self, value, cost)
        _set(self, "_limit", limit)
        _set(self, "scale", scale)
        _set(self, "error", error)
        _set(self, "confidence", confidence)
        _set(self, "mechanism", mechanism)
        _set(self, "neighboring", neighboring)

    @property
    def interval(self) -> tuple[Any, Any]:
        """Lower and upper end: each true number is between them with probability at least ``confidence``.

        Ends of integers are integers of 64 bits. Ends of floats are rounded outward.
        """
        value = np.asarray(self.value)
        is_cut = self._is_cut()
        low: Any
        high: Any
        if value.dtype.kind == "i":
            low, high = _whole_ends(value, self.error)
            ends: tuple[float, float] = _INT64.min, _INT64.max
        else:
            with np.errstate(over="ignore"):
                low, high = value - self.error, value + self.error
            # The number and the end are both rounded, by half a unit in the last place at most.
            for _ in range(2):
                low, high = np.nextafter(low, -np.inf), np.nextafter(high, np.inf)
            ends = -np.inf, np.inf
        low, high = np.where(is_cut, ends[0], low), np.where(is_cut, ends[1], high)
        return (low, high) if isinstance(self.value, np.ndarray) else (low.item(), high.item())

    def _is_cut(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Which numbers may have been cut off at the ends of the grid."""
        return np.asarray(np.abs(np.asarray(self.value, dtype=np.float64)) >= self._limit)

    def __float__(self) -> float:
        return float(self.value)

    def __int__(self) -> int:
        return int(self.value)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        array = np.asarray(self.value, dtype=dtype)
        return array.copy() if copy else array

    def __format__(self, spec: str) -> str:
        return format(self.value, spec) if spec else str(self)

    def _more(self) -> dict[str, Any]:
        names = ("scale", "error", "confidence", "mechanism", "neighboring")
        return {name: getattr(self, name) for name in names}

    def __repr__(self) -> str:
        share = f"at {percent(self.confidence)}"
        noise = f"{_SHOWN[self.mechanism]} noise of scale {number(self.scale)}"
        cut = int(self._is_cut().sum())
        if isinstance(self.value, np.ndarray):
            shown, error = _shown_array(self.value, self.error, self._limit)
            bound = f"each ± {error} {share}"
            if cut:
                bound += f", but {cut} too large for this noise, without a known error"
            return f"Noisy({shown}, {bound}; {noise}; {self._cost()})"
        if cut:
            shown = f"{number(self.value, 6)}, too large for this noise, without a known error"
        else:
            shown = " ± ".join(_shown_scalar(self.value, self.error)) + f" {share}"
        return f"Noisy({shown}; {noise}; {self._cost()})"


class Randomized(_Drawn):
    """Answers that were randomized one by one.

    ``value`` holds the reported answers, each one of the ``categories``, in the shape of what was given.
    ``keep_probability`` is the probability that an answer was kept. ``epsilon`` is the guarantee of **each**
    answer by itself (the local model), where another answer takes its place: ``neighboring`` is
    ``"replace-one"``.

    >>> from reticent import mechanisms
    >>> answers = mechanisms.randomized_response(["yes", "no", "no"], categories=["yes", "no"], epsilon=1.0)
    >>> set(answers.value) <= {"yes", "no"}
    True
    >>> round(answers.keep_probability, 4)
    0.7311
    """

    __slots__ = ("categories", "keep_probability")

    neighboring = "replace-one"
    categories: list[Any]
    keep_probability: float

    def __init__(self, value: Any, cost: _Cost, categories: list[Any], keep_probability: float) -> None:
        _Drawn.__init__(self, value, cost)
        _set(self, "categories", categories)
        _set(self, "keep_probability", keep_probability)

    def estimate(self, confidence: float = 0.95) -> Proportions:
        """The proportions of all categories among the answers before they were randomized.

        >>> from reticent import mechanisms
        >>> truth = [True] * 900 + [False] * 100
        >>> answers = mechanisms.randomized_response(truth, categories=[True, False], epsilon=3.0)
        >>> low, high = answers.estimate().interval[0]
        >>> 0 <= low <= high <= 1
        True
        """
        from .response import estimate_proportions

        return estimate_proportions(
            self.value,
            categories=self.categories,
            keep_probability=self.keep_probability,
            confidence=confidence,
        )

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        array = np.asarray(self.value, dtype=dtype)
        return array.copy() if copy else array

    def _more(self) -> dict[str, Any]:
        return {
            "categories": list(map(_plain, self.categories)),
            "keep_probability": self.keep_probability,
            "neighboring": self.neighboring,
        }

    def __repr__(self) -> str:
        count = np.size(self.value)
        shown = "1 answer" if count == 1 else f"{count} answers"
        kept = f"each kept with probability {number(self.keep_probability)}"
        known = f"{shown} of {len(self.categories)} categories"
        return f"Randomized({known}, {kept}; {self._cost()} for each answer)"


class Selected(_Drawn):
    """A candidate that was chosen by its score.

    ``value`` is the candidate, or its index where no candidates were named; ``index`` is its place in the
    list.

    >>> from reticent import mechanisms
    >>> scores, candidates = [3.0, 500.0, 4.0], ["a", "b", "c"]
    >>> best = mechanisms.exponential(scores, sensitivity=1.0, epsilon=1.0, candidates=candidates)
    >>> best.value, best.index
    ('b', 1)
    """

    __slots__ = ("index", "neighboring")

    index: int
    neighboring: str

    def __init__(self, value: Any, cost: _Cost, index: int, neighboring: str) -> None:
        _Drawn.__init__(self, value, cost)
        _set(self, "index", index)
        _set(self, "neighboring", neighboring)

    def __index__(self) -> int:
        return self.index

    def _more(self) -> dict[str, Any]:
        return {"index": self.index, "neighboring": self.neighboring}

    def __repr__(self) -> str:
        return f"Selected({self.value!r} at index {self.index}; {self._cost()})"


class FoundLabels(_Drawn):
    """Labels that were found in the data, with noisy counts.

    ``value`` maps each label whose noisy count reaches ``threshold`` to that count. ``error`` is what the
    noise of one count exceeds with probability at most 1 − ``confidence``.
    """

    __slots__ = ("confidence", "error", "neighboring", "threshold")

    threshold: int
    error: float
    confidence: float
    neighboring: str

    def __init__(
        self,
        value: dict[str, int],
        cost: _Cost,
        threshold: int,
        error: float,
        confidence: float,
        neighboring: str,
    ) -> None:
        _Drawn.__init__(self, value, cost)
        _set(self, "threshold", threshold)
        _set(self, "error", error)
        _set(self, "confidence", confidence)
        _set(self, "neighboring", neighboring)

    def _more(self) -> dict[str, Any]:
        return {
            "threshold": self.threshold,
            "error": self.error,
            "confidence": self.confidence,
            "neighboring": self.neighboring,
        }

    def __repr__(self) -> str:
        return f"FoundLabels({len(self.value)} labels of at least {self.threshold}; {self._cost()})"


class Proportions(Result):
    """Proportions that were estimated from randomized answers.

    ``value``, ``standard_error`` and ``interval`` have one entry for each of the ``categories``. Each
    interval holds by itself, with probability at least ``confidence``. Estimates are unbiased, so they may
    lie below 0 or above 1; intervals do not.
    """

    _title: ClassVar[str] = "Proportions from randomized answers"

    @property
    def categories(self) -> list[str]:
        """The categories, as text."""
        return self._data["query"]["categories"]  # type: ignore[no-any-return]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return np.array(self._data["value"], dtype=dtype)

    def _rows(self) -> list[tuple[str, str]]:
        own = self._data
        shares = zip(self.categories, own["value"], own["interval"], strict=True)
        rows = [
            (name, f"{number(share)}   [{_rounded(low, 4, _DOWN)}, {_rounded(high, 4, _UP)}]")
            for name, share, (low, high) in shares
        ]
        kept = number(own["keep_probability"])
        return [
            *rows,
            ("confidence", f"{percent(own['confidence'])} for each interval"),
            ("answers", f"{own['rows']}, each kept with probability {kept}"),
        ]


def _whole_ends(value: np.ndarray[Any, Any], error: float) -> tuple[Any, Any]:
    """The ends of integers, which stay within 64 bits."""
    if not error < 2.0**63:
        return np.full_like(value, _INT64.min), np.full_like(value, _INT64.max)
    half = np.int64(math.ceil(error))
    low = np.maximum(value, _INT64.min + half) - half
    return low, np.minimum(value, _INT64.max - half) + half


def _rounded(value: float | decimal.Decimal, decimals: int, rounding: str) -> str:
    """A number with so many digits behind the point; for people, without zeros at the end."""
    with decimal.localcontext() as context:
        context.prec = 2000
        exact = decimal.Decimal(value)
        cut = exact.quantize(decimal.Decimal(1).scaleb(-decimals), rounding)
        if cut == 0:
            return "0"
        size = cut.adjusted()
        if -5 <= size < 16:
            text = f"{cut:f}"
            return text.rstrip("0").rstrip(".") if "." in text else text
        mantissa = f"{cut.scaleb(-size).normalize():f}"
        return f"{mantissa}e{size}"


def _decimals(error: float) -> int:
    """How many digits behind the point show an error with four digits."""
    return 3 - decimal.Decimal(error).adjusted()


def _shown_scalar(value: Any, error: float) -> tuple[str, str]:
    """A number and its error such that what is shown contains the interval."""
    if isinstance(value, int):
        return str(value), _shown_whole(error)
    if not math.isfinite(error):
        return number(value, 6), "∞"
    decimals = _decimals(error)
    shown = _rounded(value, decimals, decimal.ROUND_HALF_EVEN)
    with decimal.localcontext() as context:
        context.prec = 2000
        moved = abs(decimal.Decimal(shown) - decimal.Decimal(value)) + decimal.Decimal(error)
        # The ends of the interval are rounded outward, by two units in the last place.
        moved += 4 * decimal.Decimal(math.ulp(min(abs(value) + error, _MOST)))
        return shown, _rounded(moved, decimals, _UP)


def _shown_array(value: np.ndarray[Any, Any], error: float, limit: float) -> tuple[str, str]:
    """Numbers and the error of each such that what is shown contains each interval."""
    if value.dtype.kind == "i":
        return np.array2string(value, threshold=8, separator=", "), _shown_whole(error)
    if not math.isfinite(error):
        return np.array2string(value, precision=6, threshold=8, separator=", "), "∞"
    decimals = _decimals(error)

    def text(own: float) -> str:
        if abs(own) >= limit:
            return number(float(own), 6)
        return _rounded(float(own), decimals, decimal.ROUND_HALF_EVEN)

    formatter: Any = {"float_kind": text}
    shown = np.array2string(value, threshold=8, separator=", ", formatter=formatter)
    with decimal.localcontext() as context:
        context.prec = 2000
        moved = decimal.Decimal(error) + decimal.Decimal(5).scaleb(-decimals - 1)
        sizes = np.abs(value)
        most = float(sizes.max(initial=0.0, where=sizes < limit))
        moved += 4 * decimal.Decimal(math.ulp(min(most + error, _MOST)))
        return shown, _rounded(moved, decimals, _UP)


def _shown_whole(error: float) -> str:
    return str(math.ceil(error)) if math.isfinite(error) else "∞"


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value
