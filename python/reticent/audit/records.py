"""Attacks that recover whole records, and comparisons of two models or two releases."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .. import _native, _progress, _tables
from .._core import finite, load, request
from ..errors import InvalidValueError, RequestError
from .arrays import out_folder, whole
from .disclosures import Disclosures
from .files import PathLike, refusal
from .stored import _folder, _stored


def reconstruct(
    model: Any,
    *,
    batches: Iterable[int] = (1, 4, 16),
    attacked: int | None = None,
    epsilons: Iterable[float] = (1.0, 8.0),
    delta: float = 1e-5,
    steps: int = 600,
    shadows: int = 0,
    prior: float = 0.01,
    confidence: float = 0.95,
    key: str = "reticent",
    out: PathLike | None = None,
    progress: bool | None = None,
) -> Disclosures:
    """Recovers training records of a stored model, and says how near they come beside a guess without it.

    Of a network, records are recovered from the exact gradient of ``attacked`` batches of each size in
    ``batches``, and from the noisy gradient of one private step on one record for each ε in ``epsilons``, by
    ``steps`` of gradient inversion and exactly where the first layer is linear. With ``shadows``, a network
    that learned from so many models of the same recipe rebuilds the one record that it does not know.

    Of a linear model, ``attacked`` records are recovered by somebody who knows all the others. With a
    certificate, ``bound`` is the most that it allows an attack which succeeds with probability ``prior``
    without the record.

    The results go into the folder ``out`` of the model's audit (by default the model's name and ``-audit``);
    pictures of records stay in a private file there, which ``Audit.report(pictures=True)`` shows.

    >>> import json, pathlib, tempfile
    >>> from reticent import _native
    >>> from reticent.audit import reconstruct
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model = pathlib.Path(folder, "model")
    ...     _ = _native.fit(json.dumps({"method": "exact", "out": str(model)}))
    ...     found = reconstruct(model, attacked=50)["informed-adversary"]
    >>> found.measures[0].attack.value > 0.9
    True
    """
    if not isinstance(key, str):
        raise refusal(InvalidValueError, "R202", "key", key, "give text")
    folder = _folder(model)
    fields = {
        "model": folder,
        "batches": [whole("batches", size, 1) for size in _listed("batches", batches)],
        "attacked": None if attacked is None else whole("attacked", attacked, 1),
        "epsilons": [_number("epsilons", epsilon) for epsilon in _listed("epsilons", epsilons)],
        "delta": _number("delta", delta),
        "steps": whole("steps", steps, 1),
        "shadows": whole("shadows", shadows, 0),
        "prior": _number("prior", prior),
        "confidence": _number("confidence", confidence),
        "key": key,
        "out": out_folder(out),
    }
    with _stored(folder):
        return Disclosures(load(_native.reconstruct(request(fields), _progress.display(progress))))


def difference(
    first: Any,
    second: Any,
    *,
    non_members: PathLike | None = None,
    confidence: float = 0.95,
    out: PathLike | None = None,
    progress: bool | None = None,
) -> Disclosures:
    """Compares two stored models or two releases, one of which has somebody more.

    Of two models, the fall of their loss tells whose records were added; of two linear models that differ in
    one record, the record itself is recovered. Of two files of releases (the JSON of
    ``reticent release page --json``, or an object of names and exact numbers), every statistic's difference
    is stated with its interval.

    >>> import json, pathlib, tempfile
    >>> from reticent.audit import difference
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     files = [pathlib.Path(folder, name) for name in ("monday.json", "tuesday.json")]
    ...     for file, total in zip(files, (41_200_000, 41_253_000)):
    ...         _ = file.write_text(json.dumps({"sum of salaries": total}))
    ...     found = difference(*files)["release-difference"]
    >>> found.measures[1].attack.value
    53000.0
    """
    fields = {
        "first": _place("first", first),
        "second": _place("second", second),
        "non-members": out_folder(non_members, "non_members"),
        "confidence": _number("confidence", confidence),
        "out": out_folder(out),
    }
    return Disclosures(load(_native.difference(request(fields), _progress.display(progress))))


def _place(field: str, given: Any) -> Path:
    """A path, or the folder of a stored model."""
    if _tables.is_path(given):
        return Path(_tables.text(os.fsdecode(given), field))
    if getattr(given, "folder", None) is not None:
        return _folder(given)
    remedy = "give the folder of a stored model, or the file of a release"
    raise refusal(RequestError, "R104", field, None, f"not a path ({type(given).__name__}): {remedy}")


def _listed(field: str, values: Any) -> list[Any]:
    try:
        return [] if isinstance(values, (str, bytes)) else list(values)
    except TypeError:
        raise refusal(InvalidValueError, "R202", field, values, "give a list of numbers") from None


def _number(field: str, value: Any) -> float:
    if value is None:
        raise refusal(InvalidValueError, "R202", field, value, "give a number such as 0.95")
    finite(**{field: value})
    return float(value)
