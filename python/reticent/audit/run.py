"""Requests to the library, and the audits that it answers with."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, get_args

from .. import _native, _progress
from .._core import Certificate, finite, load, request
from ..errors import DataError, InvalidValueError, RequestError, ReticentError
from .arrays import Bools, Drawn, draw_of, whole
from .files import private_folder, refusal, without
from .results import Audit, Comparison, Context, private_of
from .study import Study

Bound = Literal["one-run", "f-dp", "f-dp-gaussian", "clopper-pearson", "gaussian", "none"]


def statement_of(
    bound: str | None,
    guesses: float | None,
    delta: float | None,
    confidence: float,
    prior: float | None,
    worst: int,
    key: str,
) -> dict[str, Any]:
    """What is stated about the attacks."""
    if confidence is None:
        raise refusal(InvalidValueError, "R202", "confidence", confidence, "give a number such as 0.95")
    finite(guesses=guesses, delta=delta, confidence=confidence, prior=prior)
    known = get_args(Bound)
    if bound is not None and (not isinstance(bound, str) or bound not in known):
        raise refusal(InvalidValueError, "R203", "bound", bound, f"unknown: give one of {', '.join(known)}")
    if not isinstance(key, str):
        raise refusal(InvalidValueError, "R202", "key", key, "give text")
    numbers = {"guesses": guesses, "delta": delta, "confidence": confidence, "prior": prior}
    given = {name: None if value is None else float(value) for name, value in numbers.items()}
    return {**given, "bound": bound, "worst": whole("worst", worst, 0), "key": key}


def attacks_of(names: str | Iterable[str] | None) -> list[str]:
    """The names of the attacks to run; none for all."""
    if names is None:
        return []
    try:
        chosen = [names] if isinstance(names, str) else list(names)
    except TypeError:
        chosen = []
    if not chosen or not all(isinstance(name, str) for name in chosen):
        remedy = "give names of attacks, such as ['lira-online'], or leave it out for all that can be run"
        raise refusal(RequestError, "R104", "attacks", names, remedy)
    return chosen


def audit_study(
    study: Study,
    drawn: Drawn | None,
    chosen: list[str],
    statement: dict[str, Any],
    out: Path | None,
    progress: bool | None,
) -> Audit:
    """Audits arrays, which are written to private files."""
    with private_folder() as folder:
        fields = study.write(folder)
        with without(folder):
            return audit_table(fields, drawn, chosen, statement, out, progress, study.member)


def audit_table(
    fields: dict[str, Any],
    drawn: Drawn | None,
    chosen: list[str],
    statement: dict[str, Any],
    out: Path | None,
    progress: bool | None,
    member: Bools | None = None,
) -> Audit:
    """Audits the files that the fields name."""
    asked = {**fields, "drawn": draw_of(drawn), "attacks": chosen, "statement": statement}
    return run("scores", asked, out, progress, member=member)


def run(
    kind: str,
    fields: dict[str, Any],
    out: Path | None,
    progress: bool | None,
    *,
    member: Bools | None = None,
    certificate: Certificate | None = None,
) -> Audit:
    """Runs an audit; without a folder of its own it is written to a private one, which is gone afterwards."""
    with private_folder() as folder:
        place = folder / "audit" if out is None else out
        asked = request({kind: {**fields, "out": place}})
        with without(folder), _named(kind):
            found, compared = _native.audit(asked, _progress.display(progress))
        context = Context(_comparison(json.loads(compared)), certificate, out, private_of(place), member)
    return Audit(load(found), context)


@contextmanager
def _named(kind: str) -> Iterator[None]:
    """Refusals name the argument that they are about."""
    try:
        yield
    except ReticentError as error:
        if error.field is None:
            is_table = kind == "scores"
            if error.code == "R602" and str(error).startswith("attacks"):
                error.field = "attacks"
            elif is_table and error.code == "R601":
                error.field = "member"
            elif is_table and isinstance(error, DataError):
                error.field = "scores"
        raise


def _comparison(data: Any) -> Comparison | None:
    if data is None:
        return None
    empty = {"upper": None, "theorem": None, "contradiction": None, "why": None}
    return Comparison({**empty, **data.get("compared", {}), **data.get("apart", {})})
