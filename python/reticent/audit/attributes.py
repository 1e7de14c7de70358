"""Attribute inference: what a model adds to a guess of one column."""

from __future__ import annotations

from typing import Any

from .. import _native, _progress
from .._core import load, request
from ..errors import InvalidValueError
from .arrays import out_folder, whole
from .disclosures import Disclosures
from .files import PathLike, refusal
from .records import _number
from .stored import _folder, _stored


def infer_attribute(
    model: Any,
    column: str,
    *,
    non_members: PathLike | None = None,
    records: int = 4000,
    references: int = 4,
    confidence: float = 0.95,
    key: str = "reticent",
    out: PathLike | None = None,
    progress: bool | None = None,
) -> Disclosures:
    """Guesses ``column`` of records from all their other columns and the label, with and without the model.

    Only the difference from imputation, which does not see the model, counts. Members stand beside records
    that the model was not trained on (``non_members``; by default rows that were held out): half of those
    are the attacker's own, from which imputation and ``references`` models learn. The results go into the
    folder ``out`` of the model's audit.

    >>> import json, pathlib, tempfile
    >>> from reticent import _native
    >>> from reticent.audit import infer_attribute
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model = pathlib.Path(folder, "model")
    ...     _ = _native.fit(json.dumps({"epsilon": 1.0, "out": str(model)}))
    ...     found = infer_attribute(model, "sex", records=1000)["attribute-calibrated-sex"]
    >>> members, others = found.measures[:2]
    >>> members.difference.lower < 0.05
    True
    """
    for name, text in (("column", column), ("key", key)):
        if not isinstance(text, str):
            raise refusal(InvalidValueError, "R202", name, text, "give text")
    folder = _folder(model)
    fields = {
        "model": folder,
        "column": column,
        "non-members": out_folder(non_members, "non_members"),
        "records": whole("records", records, 1),
        "references": whole("references", references, 0),
        "confidence": _number("confidence", confidence),
        "key": key,
        "out": out_folder(out),
    }
    with _stored(folder):
        return Disclosures(load(_native.attribute(request(fields), _progress.display(progress))))
