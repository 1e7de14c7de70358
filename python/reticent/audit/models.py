"""Training of the target and the reference models, and what is stored of them."""

from __future__ import annotations

import functools
import importlib
import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _progress
from ..errors import AuditError, DataError, InvalidValueError, ModelError, RequestError
from .arrays import Bools, shape_of
from .design import Design
from .files import refusal, unwritable, write
from .study import Study

#: What a model says: what its numbers are, and the numbers.
Said = tuple[str, NDArray[Any]]
#: Trains a model on the records of a mask, with a seed.
_Job = Callable[[Bools, int], Said]

_KINDS = ("score", "logits", "probabilities")


@dataclass(frozen=True)
class Model:
    """A trained model: what it said, and who was in it."""

    kind: str
    outputs: NDArray[Any]
    inside: Bools


def imported(name: str, field: str) -> Any:
    """A module of a package that need not be installed."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        package = {"sklearn": "scikit-learn"}.get(name.split(".")[0], name)
        raise refusal(RequestError, "R102", field, None, f"needs {package}: pip install {package}") from error


def count_of(data: Any, field: str) -> int:
    """How many records there are, at least four."""
    try:
        records = int(data.shape[0]) if hasattr(data, "shape") else len(data)
    except (TypeError, IndexError):
        raise refusal(DataError, "R307", field, None, "give one row for each record") from None
    if not records:
        raise refusal(DataError, "R308", field, None, "no records: give some")
    if records < 4:
        raise refusal(AuditError, "R601", field, f"{records} records", "too few to be audited: give more")
    return records


def trained(
    job: _Job, design: Design, references: int, out: Path | None, n_jobs: int, progress: bool | None
) -> list[Model]:
    """The target and the reference models; what is stored is not trained again."""
    names = ["target.npz", *(f"reference-{model:05}.npz" for model in range(references))]
    paths = [None if out is None else out / "models" / name for name in names]
    inside = [design.inside(model) for model in range(len(names))]
    keys = [design.key_of(model, own) for model, own in enumerate(inside)]
    said = [None if path is None else _load(path, key) for path, key in zip(paths, keys, strict=True)]
    missing = [model for model, own in enumerate(said) if own is None]
    found = len(said) - len(missing)
    show = _progress.display(progress) or (lambda notes: None)
    show([("steps", "", len(said)), ("say", "models", 0), ("at", "", found)])
    try:
        tasks = [
            functools.partial(_train, job, inside[model], design.seed_of(model), paths[model], keys[model])
            for model in missing
        ]
        done = _in_parallel(tasks, n_jobs)
        for count, (model, own) in enumerate(zip(missing, done, strict=True), start=found + 1):
            said[model] = own
            show([("at", "", count)])
    finally:
        show([("end", "", 0)])
    return [Model(own[0], own[1], place) for own, place in zip(said, inside, strict=True) if own is not None]


def jobs_of(n_jobs: Any) -> int:
    """How many models are trained at the same time."""
    if isinstance(n_jobs, (bool, np.bool_)) or not isinstance(n_jobs, (int, np.integer)) or n_jobs == 0:
        remedy = "give a whole number such as 2, or -1 for all processors"
        raise refusal(InvalidValueError, "R201", "n_jobs", n_jobs, remedy)
    if n_jobs != 1:
        imported("joblib", "n_jobs")
    return int(n_jobs)


def _in_parallel(tasks: Sequence[Callable[[], Said]], jobs: int) -> Iterator[Said]:
    """Runs the tasks, in order or at the same time; their results in order."""
    if jobs == 1 or len(tasks) < 2:
        for task in tasks:
            yield task()
        return
    joblib = imported("joblib", "n_jobs")
    calls = [joblib.delayed(task)() for task in tasks]
    try:
        pool = joblib.Parallel(n_jobs=jobs, return_as="generator")
    except TypeError:
        pool = joblib.Parallel(n_jobs=jobs)
    yield from pool(calls)


def _train(job: _Job, inside: Bools, seed: int, path: Path | None, key: str) -> Said:
    """Trains a model, and stores what it says."""
    kind, values = job(inside, seed)
    values = np.ascontiguousarray(values)
    if path is not None:
        _store(path, key, kind, values)
    return kind, values


def _store(path: Path, key: str, kind: str, values: NDArray[Any]) -> None:
    buffer = io.BytesIO()
    np.savez(
        buffer,
        key=np.frombuffer(bytes.fromhex(key), dtype=np.uint8),
        kind=np.array([_KINDS.index(kind)]),
        outputs=values,
    )
    try:
        write(path, buffer.getvalue())
    except OSError as error:
        raise unwritable("out", path, error) from error


def _load(path: Path, key: str) -> Said | None:
    """What a stored model says; nothing if there is none."""
    if not path.exists():
        return None
    try:
        with np.load(path, allow_pickle=False) as file:
            own, kind, values = file["key"].tobytes().hex(), _KINDS[int(file["kind"][0])], file["outputs"]
    except Exception as error:
        raise refusal(
            ModelError, "R502", "out", str(path), "cannot be read: delete it, and call again"
        ) from error
    if own != key:
        remedy = "from another audit: delete it, or give another folder"
        raise refusal(ModelError, "R503", "out", str(path), remedy)
    return kind, values


def study_of(base: Study, models: list[Model], labels: NDArray[np.int64] | None, field: str) -> Study:
    """The arrays of an audit of trained models. ``field`` is the argument that made them."""
    records, target = len(base.member), models[0]
    for number, model in enumerate(models):
        name = "the target" if number == 0 else f"reference model {number - 1}"
        problem = _problem(model, target, records)
        if problem is not None:
            raise refusal(DataError, "R307", field, None, f"{name} {problem}")
    if labels is not None and target.kind != "score" and labels.max() >= target.outputs.shape[1]:
        remedy = f"class {labels.max()} has no output: give classes from 0 to {target.outputs.shape[1] - 1}"
        raise refusal(DataError, "R307", field, None, remedy)
    own, others = {"score": ("score", "reference_scores")}.get(
        target.kind, (f"target_{target.kind}", f"reference_{target.kind}")
    )
    numbers: dict[str, NDArray[Any]] = {own: target.outputs}
    if labels is not None:
        numbers["label"] = labels
    references: dict[str, NDArray[Any]] = {}
    if len(models) > 1:
        references[others] = np.stack([model.outputs for model in models[1:]])
        references["reference_member"] = np.stack([model.inside for model in models[1:]])
    return replace(base, member=target.inside, numbers=numbers, references=references)


def _problem(model: Model, target: Model, records: int) -> str | None:
    """What is wrong with the outputs of a model."""
    outputs = model.outputs
    if outputs.shape[:1] != (records,) or outputs.ndim != (1 if model.kind == "score" else 2):
        return f"returned outputs of {shape_of(outputs)} for {records} records: return one row for each"
    if model.kind != target.kind or outputs.shape != target.outputs.shape:
        wanted = f"{target.kind} of {shape_of(target.outputs)}"
        return f"returned {model.kind} of {shape_of(outputs)}, and the target {wanted}"
    if not np.isfinite(outputs).all():
        return "returned NaN or infinity: its training has diverged"
    if model.kind == "probabilities":
        if outputs.min() < 0 or outputs.max() > 1 or np.abs(outputs.sum(axis=1) - 1).max() > 9e-4:
            return "returned probabilities that are not between 0 and 1, or do not add up to 1"
    return None
