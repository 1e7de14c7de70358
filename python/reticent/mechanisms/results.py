"""What mechanisms give back: the noisy value, and what it cost."""

from __future__ import annotations

import json
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


class _Drawn:
    """What was drawn, and what it cost. Cannot be changed."""

    __slots__ = ("_event", "delta", "epsilon", "value")

    value: Any
    epsilon: float
    delta: float
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
        return f"ε ≤ {at_most(self.epsilon)}, δ ≤ {at_most(self.delta)}"


class Noisy(_Drawn):
    """A number or an array with noise.

    ``value`` has the shape of what was given. ``scale`` is the scale of the noise (σ for Gaussian noise).
    Each number is within ``error`` of the one without noise with probability at least ``confidence``:
    ``interval`` has both ends. ``epsilon`` and ``delta`` are the guarantee of the whole array, and ``event``
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

    __slots__ = ("confidence", "error", "mechanism", "neighboring", "scale")

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
    ) -> None:
        _Drawn.__init__(self, value, cost)
        _set(self, "scale", scale)
        _set(self, "error", error)
        _set(self, "confidence", confidence)
        _set(self, "mechanism", mechanism)
        _set(self, "neighboring", neighboring)

    @property
    def interval(self) -> tuple[Any, Any]:
        """Lower and upper end: each true number is between them with probability at least ``confidence``."""
        if isinstance(self.value, int):
            return self.value - int(self.error), self.value + int(self.error)
        return self.value - self.error, self.value + self.error

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
        if isinstance(self.value, np.ndarray):
            shown = np.array2string(self.value, precision=4, threshold=8, separator=", ")
            return f"Noisy({shown}, each ± {at_most(self.error)} {share}; {noise}; {self._cost()})"
        return f"Noisy({number(self.value, 6)} ± {at_most(self.error)} {share}; {noise}; {self._cost()})"


class Randomized(_Drawn):
    """Answers that were randomized one by one.

    ``value`` holds the reported answers, each one of the ``categories``, in the shape of what was given.
    ``keep_probability`` is the probability that an answer was kept. ``epsilon`` is the guarantee of **each**
    answer by itself (the local model).

    >>> from reticent import mechanisms
    >>> answers = mechanisms.randomized_response(["yes", "no", "no"], categories=["yes", "no"], epsilon=1.0)
    >>> set(answers.value) <= {"yes", "no"}
    True
    >>> round(answers.keep_probability, 4)
    0.7311
    """

    __slots__ = ("categories", "keep_probability")

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
        return {"categories": list(map(_plain, self.categories)), "keep_probability": self.keep_probability}

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
            (name, f"{number(share)}   [{number(low)}, {number(high)}]")
            for name, share, (low, high) in shares
        ]
        kept = number(own["keep_probability"])
        return [
            *rows,
            ("confidence", f"{percent(own['confidence'])} for each interval"),
            ("answers", f"{own['rows']}, each kept with probability {kept}"),
        ]


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value
