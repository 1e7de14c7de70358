"""Folders: private ones that last for a while, and those of models."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import tempfile
import weakref
from collections.abc import Iterator, Mapping
from pathlib import Path

from ._arguments import path, refused

#: What a model does not need: the private fingerprint, by which an audit recognizes the training data, the
#: state of a training, and the lock of a process.
LEFT_OUT = ("fingerprint.json", "checkpoint.safetensors", "run.lock")

#: Bytes that must be free for folders in memory.
_ROOM = 32 << 20


@contextlib.contextmanager
def private_folder() -> Iterator[str]:
    """A new folder for this user alone, which is removed after the block: in memory where the system has such
    a place, unless another place is set for temporary files."""
    base = _new_folder()
    try:
        yield base
    finally:
        shutil.rmtree(base, ignore_errors=True)


def _new_folder() -> str:
    memory = "/dev/shm"
    is_set = tempfile.gettempdir() != "/tmp" or any(name in os.environ for name in ("TMPDIR", "TEMP", "TMP"))
    with contextlib.suppress(OSError):
        if not is_set and os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > _ROOM:
            return tempfile.mkdtemp(prefix="reticent-", dir=memory)
    return tempfile.mkdtemp(prefix="reticent-")


class Folder:
    """The folder of a model. Without a path it is a temporary one that does not exist yet; it is removed with
    the object, by the process that made it."""

    __slots__ = ("__weakref__", "_base", "path")

    def __init__(self, path: str | None = None) -> None:
        self._base: str | None = None
        if path is not None:
            self.path = path
            return
        self._base = tempfile.mkdtemp(prefix="reticent-run-")
        self.path = os.path.join(self._base, "run")
        weakref.finalize(self, _remove, self._base, os.getpid())
        workers = sys.modules.get("multiprocessing.util")
        if workers is not None:
            # Processes of multiprocessing end without the finalizers of weak references.
            workers.Finalize(self, _remove, (self._base, os.getpid()), exitpriority=0)

    @property
    def is_temporary(self) -> bool:
        return self._base is not None

    def remove(self) -> None:
        """Removes a temporary folder; any other one is left."""
        if self._base is not None:
            shutil.rmtree(self._base, ignore_errors=True)


def _remove(folder: str, process: int) -> None:
    # A forked process has a copy of the object, and not a folder of its own.
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)


def read_files(folder: str | os.PathLike[str]) -> dict[str, bytes]:
    """The files of a model, without those that it does not need."""
    own = [each for each in sorted(Path(folder).iterdir()) if each.is_file() and each.name not in LEFT_OUT]
    return {each.name: each.read_bytes() for each in own}


def write_files(folder: str | os.PathLike[str], files: Mapping[str, bytes]) -> None:
    """Writes a model; ``model.json`` last, since a folder that has it is complete."""
    os.makedirs(folder, exist_ok=True)
    for name in sorted(files, key=lambda name: name == "model.json"):
        Path(folder, os.path.basename(name)).write_bytes(files[name])


def save_files(folder: str | os.PathLike[str], files: Mapping[str, bytes]) -> None:
    """Writes a model to a new folder, the argument ``path``."""
    place = path("path", folder, "give a new folder")
    try:
        is_free = not os.path.exists(place) or (os.path.isdir(place) and not os.listdir(place))
        if is_free:
            write_files(place, files)
    except (OSError, ValueError) as error:
        problem = f"{place} cannot be written ({error})"
        raise refused(303, "path", problem, "give a folder that can be written", place) from error
    if not is_free:
        raise refused(304, "path", f"{place} exists already", "give a new folder", place)
