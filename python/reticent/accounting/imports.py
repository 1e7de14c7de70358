"""Events of other libraries: the history of Opacus, and the events of dp_accounting."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from numbers import Real
from typing import Any

from .. import _native
from .._refusals import relation
from .._core import brief
from ..errors import DataError, RequestError, ReticentError
from .events import Events
from .values import contents, items, placed, real, renamed, whole

#: No event has so many others around it.
_DEEPEST = 100


def from_opacus(history: Any) -> Events:
    """The events of a training with Opacus.

    ``history`` is a ``PrivacyEngine``, one of its accountants, the ``state_dict()`` of an accountant, a
    checkpoint that the engine saved, a list of ``(noise_multiplier, sample_rate, num_steps)``, or the path
    of a JSON file with such a list.

    The history does not say how batches were drawn. These events hold for Poisson sampling, which Opacus
    does unless ``poisson_sampling=False``, with one sample for each step of the optimizer. Otherwise state
    the run with ``dpsgd(sampling=…)``. They are stated under add-remove; ``.under("replace-one")`` is what
    replacing a record costs.

    >>> from reticent.accounting import from_opacus
    >>> from_opacus([(1.3, 0.004, 2500), (1.1, 0.004, 5000), (0.9, 0.008, 500)]).epsilon(delta=1e-5) < 1.977
    True
    """
    listed = json.dumps([_stretch(place, entry) for place, entry in enumerate(_history(history))])
    return _read(lambda: _native.import_opacus(listed), "history", "sample_rate")


def _stretch(place: int, entry: Any) -> tuple[float, float, int]:
    """Steps that are alike: their noise multiplier, sampling rate and number."""
    where = f"history[{place}]"
    triple = items(entry)
    if triple is None or len(triple) != 3:
        remedy = "give (noise_multiplier, sample_rate, num_steps)"
        text = f"{where} = {brief(entry)}: {remedy}"
        raise RequestError(text, code="R104", field="history", value=brief(entry), remedy=remedy)
    noise, rate, count = triple
    try:
        return real("noise_multiplier", noise), real("sample_rate", rate), whole("num_steps", count)
    except ReticentError as error:
        raise placed(error, "history", where) from None


def _read(translate: Callable[[], str], argument: str, rate: str) -> Events:
    """The events that the library translates; what is wrong is told about the argument and its ``rate``."""
    try:
        return Events.from_json(translate())
    except ReticentError as error:
        if error.field in (None, "events"):
            error.field = argument
        raise renamed(error, {"sampling_rate": rate}) from None


def _history(history: Any) -> list[Any]:
    """The list inside whatever holds it."""
    if isinstance(history, (str, os.PathLike)):
        try:
            text = contents(history)
        except ReticentError as error:
            raise renamed(error, {"path": "history"}) from None
        try:
            history = json.loads(text)
        except ValueError as error:
            remedy = f"not JSON ({error}): save it with json.dump(privacy_engine.accountant.history, file)"
            raise DataError(f"history: {remedy}", code="R314", field="history", remedy=remedy) from None
    if hasattr(history, "accountant"):
        history = history.accountant
    if hasattr(history, "history"):
        history = history.history
    if isinstance(history, Mapping) and "privacy_accountant_state_dict" in history:
        history = history["privacy_accountant_state_dict"]
    if isinstance(history, Mapping) and "history" in history:
        history = history["history"]
    listed = items(history)
    if listed is None:
        remedy = (
            "give an accountant of Opacus, its state_dict(), or a list of "
            "(noise_multiplier, sample_rate, num_steps)"
        )
        shown = brief(history)
        message = f"history = {shown}: {remedy}"
        raise RequestError(message, code="R104", field="history", value=shown, remedy=remedy)
    return listed


def from_dp_accounting(event: Any, *, neighboring: Any = "add-remove") -> Events:
    """The events of a ``DpEvent`` of Google's dp_accounting.

    ``neighboring`` is the relation of its accountant: ``"add-remove"``, which is the default there, too, or
    ``"replace-one"``.

    A ``GaussianDpEvent`` is noise on a sum of vectors of norm at most C, with noise multiplier σ / C. So
    under replace-one, where the sum changes by up to 2C, it costs more than under add-remove, as in the PLD
    accountant of dp_accounting (its RDP accountant counts C only).

    >>> from reticent.accounting import from_dp_accounting
    >>> class GaussianDpEvent:
    ...     noise_multiplier = 5.0
    >>> from_dp_accounting(GaussianDpEvent())
    ClippedSum(5)
    """
    under, printed = _relation(neighboring), _printed(event)
    return _read(lambda: _native.import_dp_event(printed, under), "event", "sampling_probability")


def _relation(neighboring: Any) -> str:
    # The relations of dp_accounting itself.
    named = {"ADD_OR_REMOVE_ONE": "add-remove", "REPLACE_ONE": "replace-one"}
    own = getattr(neighboring, "name", None)
    return named[own] if own in named else relation(neighboring)


def _printed(value: Any, depth: int = 0) -> str:
    """A value as ``repr`` prints it where events are attrs classes, whatever its class is like."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    kind = _kind(value)
    if depth < _DEEPEST and kind.endswith("Event"):
        fields = ", ".join(f"{name}={_printed(own, depth + 1)}" for name, own in _fields(value))
        return f"{kind}({fields})"
    if depth < _DEEPEST and isinstance(value, (list, tuple)):
        return f"[{', '.join(_printed(own, depth + 1) for own in value)}]"
    if isinstance(value, Real) and not isinstance(value, bool):
        return _number(value)
    return kind


def _number(value: Real) -> str:
    try:
        return repr(float(value))
    except OverflowError:
        return "inf"


def _kind(event: Any) -> str:
    """The class of an event; also of one that was turned into a named tuple."""
    name = getattr(event, "class_name", None) if isinstance(event, tuple) else type(event).__name__
    return name.decode("utf-8", "replace") if isinstance(name, bytes) else str(name)


def _fields(event: Any) -> Iterable[tuple[str, Any]]:
    """The fields of an event by name."""
    declared = getattr(type(event), "__attrs_attrs__", None)
    names = dir(event) if declared is None else [field.name for field in declared]
    for name in names:
        value = getattr(event, name, None)
        if not name.startswith("_") and not callable(value):
            yield name, value
