"""Stored linear models."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ._arguments import refused
from ._folder import private_folder, write_files

#: What Python knows of a saved estimator beside the curator's files.
ESTIMATOR_FILE = "estimator.json"


class Stored:
    """The files of a model. They are on disk only while the native module reads them."""

    __slots__ = ("files",)

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self.files = dict(files)

    @contextlib.contextmanager
    def folder(self) -> Iterator[str]:
        """A private folder with the files, which is removed after the block."""
        with private_folder() as base:
            folder = os.path.join(base, "model")
            write_files(folder, self.files)
            yield folder

    @property
    def about(self) -> dict[str, Any]:
        """``model.json``."""
        return dict(json.loads(self.files["model.json"]))


def own(about: Mapping[str, Any]) -> Mapping[str, Any]:
    """The model in ``model.json``."""
    return dict(about["binary"] if "binary" in about else about["multiclass"])


def linears(about: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Weights and intercepts in ``model.json``, one for each of the native module's classes."""
    return [about["binary"]] if "binary" in about else list(about["multiclass"]["models"])


def class_of(about: Mapping[str, Any]) -> str:
    """What reads a model: a class of :mod:`reticent.models`, or ``train`` for a network."""
    if "binary" not in about and "multiclass" not in about:
        return "train"
    model = own(about)
    loss = model["loss"] if isinstance(model["loss"], str) else next(iter(model["loss"]))
    if loss == "logistic" and "multiclass" in about and model["method"] in ("descent", "sgd"):
        return "models.SoftmaxRegression"
    return {"logistic": "models.LogisticRegression", "squared": "models.Ridge"}.get(loss, "models.LinearSVC")


def known(text: bytes | None, folder: Path) -> dict[str, Any]:
    """What an estimator wrote beside the curator's files; nothing for a model of the command."""
    if text is None:
        return {}
    try:
        read = json.loads(text)
        if not isinstance(read, dict) or not isinstance(read.get("features"), int):
            raise ValueError("not an estimator")
    except ValueError as error:
        problem = f"{folder / ESTIMATOR_FILE} cannot be read ({error})"
        raise refused(502, "path", problem, "restore the file, or remove it", str(folder)) from None
    return read
