"""Refusals, and files that only the auditor may read."""

from __future__ import annotations

import os
import secrets
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from .._core import brief
from ..errors import DataError, ReticentError

PathLike = str | os.PathLike[str]

#: Files that only the folder of a model or a run has: no report goes there.
_OF_MODEL = ("model.json", "run.toml", "certificate.json", "ledger.json")

_Error = TypeVar("_Error", bound=ReticentError)


def refusal(kind: type[_Error], code: str, field: str, value: object, remedy: str) -> _Error:
    """An error about an argument."""
    shown = None if value is None else _short(value)
    head = field if shown is None else f"{field} = {shown}"
    return kind(f"{head}: {remedy}", code=code, field=field, value=shown, remedy=remedy)


def _short(value: object) -> str:
    if isinstance(value, str) and value.isprintable():
        return value if len(value) <= 60 else value[:57] + "…"
    return brief(value)


def unwritable(field: str, place: Path, error: OSError) -> DataError:
    """The refusal of a place that cannot be written to."""
    return refusal(DataError, "R303", field, str(place), f"cannot be written: {error.strerror or error}")


def check_place(folder: Path, field: str) -> None:
    """Refuses the folder of a model: its certificate does not speak for what an audit finds."""
    if any((folder / name).is_file() for name in _OF_MODEL):
        remedy = "a model is there, whose certificate does not cover what audits find: give another folder"
        raise refusal(DataError, "R304", field, str(folder), remedy)


@contextmanager
def private_folder() -> Iterator[Path]:
    """A folder that nobody else can read, gone at the end."""
    with tempfile.TemporaryDirectory(prefix="reticent-") as folder:
        yield Path(folder)


@contextmanager
def without(folder: Path) -> Iterator[None]:
    """Messages do not name a temporary folder."""
    try:
        yield
    except ReticentError as error:
        message = str(error.args[0])
        hidden = message.replace(f"{folder}{os.sep}", "")
        if hidden == message:
            raise
        field = error.field or ("declared" if "declared.toml" in hidden else None)
        value = error.value and error.value.replace(f"{folder}{os.sep}", "")
        remedy = error.remedy.replace(f"{folder}{os.sep}", "")
        raise type(error)(hidden, code=error.code, field=field, value=value, remedy=remedy) from None


def write(path: Path, content: bytes, mode: int = 0o600) -> None:
    """Writes a file as a whole or not at all."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}.tmp")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
