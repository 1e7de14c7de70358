"""Events in their JSON form, and lists of them as text with numbers of repetitions."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from .. import _native, _tables
from .._refusals import invalid
from .._core import load
from ..errors import DataError
from .values import MOST

#: Events as text with their numbers of repetitions.
Parts = tuple[tuple[int, str], ...]

_PLACE = re.compile(r"events: (?:[\w\[\].]*[.\]])?(\w+)(?:\[\d+\])?: (.*)", re.DOTALL)
_FIELD = re.compile(r"(\w+) = (.*?): (.*)", re.DOTALL)


def checked_event(text: str) -> dict[str, Any]:
    """One event, checked; what is wrong is told about the argument."""
    try:
        return load(_native.read_events(text))["events"][0]  # type: ignore[no-any-return]
    except DataError as error:
        match = _PLACE.fullmatch(str(error))
        if match is None:
            raise
        field, rest = match.groups()
        unfit = _FIELD.fullmatch(rest)
        if unfit is not None:
            field, value, remedy = unfit.groups()
        else:
            value, _, remedy = rest.partition(": ")
        raise invalid(field, value, remedy) from None


def read_list(text: str) -> dict[str, Any]:
    """A list of events in any of its written forms, checked; what is wrong is told about the argument."""
    try:
        return load(_native.read_events(_tables.text(text, "events")))
    except DataError as error:
        message = str(error).replace("events: events", "events", 1)
        raise DataError(message, code=error.code, field="events", remedy=error.remedy) from None


def parts_of(events: Iterable[Mapping[str, Any]]) -> Parts:
    """Checked events as text with their numbers of repetitions."""
    found = []
    for event in events:
        count = 1
        while "repeated" in event and count * event["repeated"]["count"] <= MOST:
            count *= event["repeated"]["count"]
            event = event["repeated"]["event"]
        if count:
            found.append((count, json.dumps(event, separators=(",", ":"))))
    return merged(tuple(found))


def merged(parts: Parts) -> Parts:
    """The same list, equal neighbors as one entry."""
    found: list[tuple[int, str]] = []
    for count, text in parts:
        if found and found[-1][1] == text and found[-1][0] + count <= MOST:
            found[-1] = (found[-1][0] + count, text)
        else:
            found.append((count, text))
    return tuple(found)


def repeated(count: int, text: str) -> str:
    """An event that is repeated."""
    return text if count == 1 else f'{{"repeated":{{"count":{count},"event":{text}}}}}'


def is_bare(data: Any) -> bool:
    """Whether events are given without the place for a relation: as a list, or as one event."""
    return not (isinstance(data, dict) and ("events" in data or "certificate" in data))
