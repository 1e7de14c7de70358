"""The folders of trained networks, as far as they are read here."""

from __future__ import annotations

import json
import os
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _toml
from .._arguments import refused
from .._schemas import known_schema
from .._tables import PREFIX
from .data import LABEL, Reader

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Stored:
    """The folder of a run."""

    def __init__(self, path: str) -> None:
        self.path = path

    def text(self, name: str) -> str | None:
        """The text of a file; ``None`` without it."""
        try:
            return Path(self.path, name).read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            problem = f"{os.path.join(self.path, name)} cannot be read ({error})"
            raise refused(502, "folder", problem, "restore it") from None

    @property
    def is_run(self) -> bool:
        return os.path.isfile(os.path.join(self.path, "run.toml"))

    def of_run(self, key: str) -> Any:
        """A setting of the run."""
        return _toml.stored(self.text("run.toml") or "", key)

    def about(self) -> dict[str, Any]:
        """``model.json``."""
        try:
            about = json.loads(self.text("model.json") or "{}")
        except ValueError:
            about = {}
        return about if isinstance(about, dict) else {}

    def classes(self) -> list[str] | None:
        """The texts of the classes; ``None`` if the label is a number."""
        return self.about().get("classes") or None

    def metrics(self) -> list[dict[str, Any]]:
        """The metrics of every epoch."""
        return [json.loads(line) for line in (self.text("metrics.jsonl") or "").splitlines() if line.strip()]

    def reader(self) -> Reader:
        """How other data are read for this network."""
        schema, classes = self.text("schema.toml"), self.classes()
        if schema is None:
            shape = _toml.stored(self.text("model.toml") or "", "input")
            names = classes or self.of_run("classes") or ()
            names = map(str, range(names)) if isinstance(names, int) else names
            return Reader("images", classes=tuple(names) or None, shape=tuple(shape) if shape else None)
        head, _, columns = schema.partition("\n[columns]\n")
        label = head.partition("\n[label]\n")[2]
        known = known_schema(schema)
        reader = Reader(
            "table",
            label=_toml.stored(label, "column"),
            is_number=_toml.stored(label, "bounds") is not None,
            columns=None if known is None else known.columns,
        )
        declared = tuple(classes) if classes and "categories = [" in label else None
        own = self.about().get("input", {})
        text = own.get("column") or self.of_run("text-column")
        if text is not None:
            read = None if reader.columns is None else reader.columns | {text}
            objective = _toml.stored((self.text("model.toml") or "").partition("[[layer]]")[0], "loss")
            language = objective == "next-token"
            return replace(reader, kind="text", text=text, columns=read, classes=declared, is_language=language)
        width = len(re.findall(rf"^{PREFIX}\d+ = ", columns, re.MULTILINE))
        if reader.label == LABEL and 0 < width == len(columns.strip().splitlines()):
            return replace(reader, width=width, classes=declared)
        return replace(reader, classes=declared, checks_table=False)

    def outcome(self, certificate: dict[str, Any] | None) -> dict[str, Any]:
        """What a training tells about itself, as far as its folder says."""
        last = (self.metrics() or [{}])[-1]
        weights = sum(int(np.prod(own["shape"], dtype=np.int64)) for own in self._tensors()[0].values())
        return {
            "model": self.of_run("model"),
            "steps": last.get("step"),
            "epochs": last.get("epoch"),
            "batch_size": self.of_run("batch-size"),
            "accuracy": last.get("validation_accuracy"),
            "loss": last.get("validation_loss"),
            "weights": weights,
            "certificate": certificate,
            "warnings": [],
        }

    def weights(self) -> dict[str, NDArray[np.float32]]:
        """The weights by name."""
        header, content = self._tensors()
        found = {}
        for name, own in sorted(header.items()):
            start, end = own["data_offsets"]
            if own["dtype"] != "F32":
                raise refused(502, "folder", f"weights of type {own['dtype']}", "restore the file")
            values = np.frombuffer(content[start:end], dtype="<f4").astype(np.float32)
            found[name] = values.reshape(own["shape"])
        return found

    def _tensors(self) -> tuple[dict[str, Any], bytes]:
        """The header of the weights, and their bytes."""
        path = Path(self.path, "model.safetensors")
        try:
            content = path.read_bytes()
            size = int.from_bytes(content[:8], "little")
            header = json.loads(content[8 : 8 + size])
            header.pop("__metadata__", None)
        except (OSError, ValueError, AttributeError):
            remedy = "restore the file that was written, or train again"
            raise refused(502, "folder", f"{path} cannot be read", remedy) from None
        return header, content[8 + size :]
