"""Classes: declared from public knowledge, and compared by their texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ._arguments import items, refused
from ._core import brief
from ._schemas import category_text
from ._tables import is_missing
from .errors import ReticentError

_REMEDY = 'give the public list of labels, or "public" if it is public which labels there are'


def declared(classes: Any, found: Callable[[], Iterable[Any]]) -> list[Any]:
    """The declared classes; those that were found in the target where they are declared to be public."""
    if classes is None:
        raise refused(102, "classes", "they have to be declared", _REMEDY)
    if isinstance(classes, str) and classes == "public":
        return list(found())
    values = items(classes)
    if values is None:
        raise refused(104, "classes", f"{brief(classes)} is not a list of labels", _REMEDY, classes)
    return [value.item() if isinstance(value, np.generic) else value for value in values]


def texts_of(classes: Iterable[Any]) -> list[str]:
    """The text of each class: there are at least two of them, distinct and not blank."""
    texts = []
    for value in classes:
        if not isinstance(value, (str, bool, int, float)) and value is not None:
            problem, remedy = f"{brief(value)} is not a class", "give texts, numbers or truth values"
            raise refused(205, "classes", problem, remedy, value)
        texts.append("" if is_missing(value) else category_text(value, "classes"))
    if len(texts) < 2 or len(set(texts)) < len(texts) or "" in texts:
        problem = f"{len(texts)} class{'' if len(texts) == 1 else 'es'}, {brief(texts)}"
        raise refused(205, "classes", problem, "give at least two, distinct and not blank", brief(texts))
    return texts


def undeclared(label: object, argument: str) -> ReticentError:
    """The error about a label that is not one of the classes."""
    remedy = "declare it in classes=, or remove its rows"
    return refused(307, argument, f"the label {brief(label)} is not one of the classes", remedy, label)
