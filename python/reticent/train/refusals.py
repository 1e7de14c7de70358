"""Refusals of the library, in the words of the arguments here."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager

from ..errors import BudgetError, ReticentError

#: Names of fields in the library that are other arguments here.
_ARGUMENTS = {
    "data": "X",
    "train": "X",
    "model": "network",
    "lr": "learning_rate",
    "resume": "folder",
    "finish": "folder",
}
#: The arguments that files of a request are written from.
_FILES = {"model.toml": "network", "schema.toml": "schema", "vocabulary.txt": "vocabulary"}


@contextmanager
def naming_arguments(folder: str) -> Iterator[None]:
    """Names arguments in refusals of the library, and leaves the private folder out of them."""
    try:
        yield
    except ReticentError as error:
        private = os.path.join(folder, "")
        message, remedy = (own.replace(private, "") for own in (str(error), error.remedy))
        field = _subject(error, message) if error.field is None else _ARGUMENTS.get(error.field, error.field)
        if (message, remedy, field) == (str(error), error.remedy, error.field):
            raise
        raise type(error)(message, code=error.code, field=field, value=error.value, remedy=remedy) from None


def _subject(error: ReticentError, message: str) -> str | None:
    """The argument that a message is about: it begins with a file or a layer, or names the table."""
    if isinstance(error, BudgetError):
        return "budget"
    file = os.path.basename(message.split(":", 1)[0])
    if file in _FILES:
        return _FILES[file]
    named = re.search(r"(?<![\w./])(X|validation)(?![\w./])", message)
    if named is not None:
        return named.group()
    return "network" if re.match(r"layer \d", message) else None
