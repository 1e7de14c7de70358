"""Classes: declared from public knowledge, and compared by their texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
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


def undeclared(argument: str) -> ReticentError:
    """The error about a label that is not one of the classes. The label is private: it is not shown."""
    problem = "it holds a label that is not one of the declared classes"
    return refused(307, argument, problem, "declare all of them in classes=, or remove the other rows")


def check_given(classes: Any, label: Mapping[str, Any]) -> None:
    """Refuses labels beside the features without classes if the schema declares the positive one alone."""
    if classes is None and "positive" in label:
        problem = "the schema's label declares its positive value alone, and y is given beside X"
        remedy = f"give both labels, such as classes=[other, {brief(label['positive'])}]"
        raise refused(102, "classes", problem, remedy)


def with_positive(texts: list[str], positive: Any) -> list[str]:
    """The classes of a label of which a schema declares the positive value alone: the other one first."""
    own = category_text(positive, "schema")
    if len(texts) != 2:
        problem = f"{len(texts)} classes, but the schema's label has two, the positive one and another"
        remedy = "give both, or a schema whose label has categories"
        raise refused(103, "classes", problem, remedy, len(texts))
    if own not in texts:
        problem = f"the schema's positive value {brief(own)} is not one of them"
        remedy = "give two classes, one of them the positive value"
        raise refused(103, "classes", problem, remedy, brief(texts))
    return [text for text in texts if text != own] + [own]
