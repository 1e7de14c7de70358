"""Closed formulas of the textbooks."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from .. import _native
from .._refusals import invalid, missing, one_of
from .._core import brief, load
from ..errors import RequestError, ReticentError
from .results import FormulaResult
from .values import is_flag, items, real, reals, whole

_Check = Callable[[str, Any], Any]


def _flag(name: str, value: Any) -> bool:
    if not is_flag(value):
        raise invalid(name, brief(value), "give True or False", "R203")
    return bool(value)


def _choices(name: str, value: Any) -> list[tuple[str, float]]:
    remedy = 'give candidates with their scores, such as {"dark": 500, "brown": 399}'
    pairs = list(value.items()) if isinstance(value, Mapping) else items(value)
    if pairs is None:
        raise invalid(name, brief(value), remedy, "R205")
    found = []
    for entry in pairs:
        pair = items(entry)
        if pair is None or len(pair) != 2:
            raise invalid(name, brief(entry), remedy, "R205")
        try:
            found.append((str(pair[0]), real(f"{name}[{pair[0]!r}]", pair[1])))
        except ReticentError as error:
            error.field = name
            raise
    return found


def _pair(name: str, value: Any) -> list[float]:
    pair = reals(name, value)
    if len(pair) != 2:
        raise invalid(name, brief(value), "give two numbers, such as (0, 100)", "R205")
    return pair


def _mechanism(name: str, value: Any) -> str:
    return one_of(name, _kebab(value), ("exponential", "permute-and-flip"))


def _kebab(name: Any) -> Any:
    """A name of Python as one of requests."""
    return name.replace("_", "-") if isinstance(name, str) else name


#: The formulas with their numbers; those with a question mark may be left out.
_FORMULAS: dict[str, dict[str, _Check]] = {
    "selection": {
        "choices": _choices,
        "epsilon": real,
        "sensitivity": real,
        "mechanism?": _mechanism,
        "monotone?": _flag,
        "shortfall?": real,
    },
    "sensitivity": {"counts?": whole, "overlap?": whole, "bounds?": _pair, "dataset_size?": whole},
    "gaussian": {"epsilon": real, "delta": real, "sensitivity": real},
    "random-record": {"dataset_size": whole},
    "composition": {"epsilon": real, "count": whole, "delta": real, "probability?": real},
    "output-perturbation": {
        "epsilon": real,
        "delta": real,
        "dataset_size": whole,
        "regularization": real,
        "lipschitz": real,
    },
    "sample-size": {
        "epsilon": real,
        "delta": real,
        "excess": real,
        "failure": real,
        "dimension": whole,
        "radius": real,
        "lipschitz": real,
    },
    "projected-sgd": {
        "epsilon": real,
        "delta": real,
        "dataset_size": whole,
        "steps": whole,
        "lipschitz": real,
    },
}


def formula(name: str, /, **numbers: Any) -> FormulaResult:
    """Closed formulas of the textbooks on public numbers, beside what the library certifies.

    =======================  ===========================================================================
    name                     numbers
    =======================  ===========================================================================
    ``selection``            choices, epsilon, sensitivity; optional: mechanism, monotone, shortfall
    ``sensitivity``          optional: counts, overlap, bounds, dataset_size
    ``gaussian``             epsilon, delta, sensitivity
    ``random-record``        dataset_size
    ``composition``          epsilon, count, delta; optional: probability
    ``output-perturbation``  epsilon, delta, dataset_size, regularization, lipschitz
    ``sample-size``          epsilon, delta, excess, failure, dimension, radius, lipschitz
    ``projected-sgd``        epsilon, delta, dataset_size, steps, lipschitz
    =======================  ===========================================================================

    >>> from reticent.accounting import formula
    >>> noise = formula("gaussian", epsilon=0.5, delta=1e-5, sensitivity=1)
    >>> [(row["formula"], round(row["sigma"], 2)) for row in noise.formulas[:2]]
    [('analytic', 7.03), ('classical', 9.69)]
    """
    wire = one_of("name", _kebab(name), tuple(_FORMULAS))
    known = _FORMULAS[wire]
    checks = {field.rstrip("?"): check for field, check in known.items()}
    for own in numbers:
        if own not in checks:
            remedy = f"unknown: the formula {wire} has {', '.join(checks)}"
            raise RequestError(f"{own}: {remedy}", code="R101", field=own, remedy=remedy)
    for field in known:
        if not field.endswith("?") and numbers.get(field) is None:
            needed = ", ".join(own for own in known if not own.endswith("?"))
            raise missing(field, f"the formula {wire} needs {needed}")
    given = {field: checks[field](field, value) for field, value in numbers.items() if value is not None}
    try:
        return FormulaResult(load(_native.formula(json.dumps({wire: given}))))
    except ReticentError as error:
        named = re.search(r"(?:^|: )(\w+) = (.*?): (.*)", str(error))
        if named is None or named.group(1) not in checks:
            raise
        field, value, remedy = named.groups()
        raise type(error)(
            f"{field} = {value}: {remedy}", code=error.code, field=field, value=value, remedy=remedy
        ) from None
