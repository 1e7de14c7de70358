"""What is known about the records of an audit."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _tables
from ..errors import DataError, RequestError
from .arrays import (
    Bools,
    Names,
    array_of,
    column_of,
    flags,
    labels_of,
    names_of,
    other_length,
    outputs_of,
    plain,
    scores_of,
    shaped,
    single,
)
from .files import refusal
from .gradients import gradients_of

#: Archives of 4 GiB and more are not read.
_MOST_BYTES = 4 * 2**30 - 2**20
#: Columns of a table that mean something else.
_RESERVED = re.compile(r"(score|member|id|label|user|drawn|pair)|(feature|reference|probability|logit)_.*")


@dataclass(frozen=True)
class Study:
    """Checked arrays of an audit."""

    member: Bools
    numbers: dict[str, NDArray[Any]]
    names: dict[str, Names]
    groups: dict[str, Names]
    features: NDArray[np.float32] | dict[str, list[str]] | None
    references: dict[str, NDArray[Any]]
    gradients: dict[str, NDArray[Any]]

    @classmethod
    def of(
        cls,
        *,
        scores: Any = None,
        member: Any = None,
        target_logits: Any = None,
        target_probabilities: Any = None,
        reference_logits: Any = None,
        reference_probabilities: Any = None,
        reference_scores: Any = None,
        reference_members: Any = None,
        gradients: Any = None,
        reference_gradients: Any = None,
        labels: Any = None,
        ids: Any = None,
        users: Any = None,
        pairs: Any = None,
        groups: Any = None,
        features: Any = None,
        drawn: Any = None,
    ) -> Study:
        """Checks the arguments of an audit."""
        targets = {"target_logits": target_logits, "target_probabilities": target_probabilities}
        named = {
            "reference_logits": reference_logits,
            "reference_probabilities": reference_probabilities,
            "reference_scores": reference_scores,
        }
        if scores is None and target_logits is None and target_probabilities is None:
            remedy = "give a score for each record, or target_logits or target_probabilities"
            raise refusal(RequestError, "R102", "scores", None, remedy)
        if member is None:
            raise refusal(RequestError, "R102", "member", None, "give who was in the target's training data")
        _one_kind(targets)
        _one_kind({name: named[name] for name in ("reference_logits", "reference_probabilities")})
        inside = flags(member, "member", (None,), "one truth value for each record")
        records = len(inside)
        if not records:
            raise refusal(
                DataError, "R308", "member", None, "no records: give at least two members and two non-members"
            )
        numbers: dict[str, NDArray[Any]] = {}
        if scores is not None:
            numbers["score"] = scores_of(scores, "scores", (records,), "one score for each record of member")
        classes = None
        for name, values in targets.items():
            if values is not None:
                numbers[name] = outputs_of(values, name, (records, None), "records × classes")
                classes = numbers[name].shape[1]
        if reference_gradients is not None and gradients is None:
            remedy = "goes with gradients of the target: give them"
            raise refusal(RequestError, "R103", "reference_gradients", None, remedy)
        named["reference_gradients"] = reference_gradients
        references = cls._references(named, reference_members, records, classes, scores is not None)
        if labels is not None:
            numbers["label"] = labels_of(labels, "labels", records, classes)
        if isinstance(drawn, str) and drawn == "pairs" and pairs is None:
            raise refusal(
                RequestError, "R102", "pairs", None, "say which pair each record belongs to: drawn is 'pairs'"
            )
        given = {"id": ("ids", ids), "user": ("users", users), "pair": ("pairs", pairs)}
        names = {
            own: names_of(values, field, records)
            for own, (field, values) in given.items()
            if values is not None
        }
        if "id" in names and len(set(np.asarray(names["id"], dtype=object).tolist())) < records:
            raise refusal(DataError, "R307", "ids", None, "an id comes twice: give every record its own")
        own = gradients_of(gradients, "gradients", (records,))
        known = _features(features, records)
        return cls(inside, numbers, names, _groups(groups, records), known, references, own)

    @staticmethod
    def _references(
        named: dict[str, Any], members: Any, records: int, classes: int | None, is_scored: bool
    ) -> dict[str, NDArray[Any]]:
        given = {name: values for name, values in named.items() if values is not None}
        if not given:
            if members is not None:
                remedy = "give reference_logits, reference_probabilities or reference_scores too"
                raise refusal(RequestError, "R103", "reference_members", None, remedy)
            return {}
        if members is None:
            remedy = "give who was in each reference model's training data, models × records"
            raise refusal(RequestError, "R102", "reference_members", None, remedy)
        inside = flags(members, "reference_members", (None, records), "models × records")
        models = len(inside)
        if not models:
            remedy = "no reference models: give at least one, or leave them out"
            raise refusal(DataError, "R308", "reference_members", None, remedy)
        found: dict[str, NDArray[Any]] = {"reference_member": inside}
        for name, values in given.items():
            if name == "reference_gradients":
                own = gradients_of(values, name, (models, records))
                found |= {f"reference_{array}": numbers for array, numbers in own.items()}
                continue
            if name == "reference_scores":
                if not is_scored:
                    raise refusal(
                        RequestError, "R103", name, None, "goes with scores of the target: give them"
                    )
                found[name] = scores_of(values, name, (models, records), "models × records")
                continue
            if classes is None:
                remedy = "goes with target_logits or target_probabilities: give one of them"
                raise refusal(RequestError, "R103", name, None, remedy)
            found[name] = outputs_of(values, name, (models, records, classes), "models × records × classes")
        return found

    def write(self, folder: Path) -> dict[str, Any]:
        """Writes the arrays, and gives the fields of a request about them."""
        texts = [*self.names.values(), *self.groups.values()]
        if any(isinstance(column, list) for column in texts) or isinstance(self.features, dict):
            return self._write_rows(folder)
        arrays: dict[str, Any] = {"member": self.member, **self.numbers, **self.names, **self.references}
        arrays |= self.gradients
        arrays |= {f"group_{name}": values for name, values in self.groups.items()}
        if self.features is not None:
            arrays["features"] = self.features
        return {"scores": archive(folder / "scores.npz", arrays)}

    def _write_rows(self, folder: Path) -> dict[str, Any]:
        columns: dict[str, list[Any]] = {"member": self.member.astype(int).tolist()}
        for name, values in self.numbers.items():
            if values.ndim == 1:
                columns[name] = values.tolist()
            else:
                kind = "logit" if name.endswith("logits") else "probability"
                columns |= {f"{kind}_{place}": values[:, place].tolist() for place in range(values.shape[1])}
        for name, own in [*self.names.items(), *self.groups.items()]:
            columns[name] = own if isinstance(own, list) else own.tolist()
        if isinstance(self.features, dict):
            columns |= {f"feature_{name}": list(texts) for name, texts in self.features.items()}
        elif self.features is not None:
            columns |= {f"feature_{place}": own.tolist() for place, own in enumerate(self.features.T)}
        path = folder / "scores.csv"
        with open(path, "w", newline="", encoding="utf-8") as file:
            rows = csv.writer(file)
            rows.writerow(columns)
            rows.writerows(zip(*columns.values(), strict=True))
        fields: dict[str, Any] = {"scores": path, "groups": list(self.groups)}
        if self.references or self.gradients:
            arrays = self.references | self.gradients
            fields["references-from"] = archive(folder / "references.npz", arrays)
        return fields


def _one_kind(given: Mapping[str, Any]) -> None:
    names = [name for name, values in given.items() if values is not None]
    if len(names) > 1:
        raise refusal(
            RequestError, "R103", names[0], None, f"does not go with {names[1]}: give one of the two"
        )


def _by_name(data: Any) -> Any:
    """The columns of a data frame by their names; anything else as it is."""
    if _tables.is_of(data, "pandas") and hasattr(data, "columns"):
        return {str(name): data.iloc[:, place] for place, name in enumerate(data.columns)}
    if _tables.is_of(data, "polars") and hasattr(data, "get_columns"):
        return {own.name: own for own in data.get_columns()}
    if _tables.is_of(data, "pyarrow") and hasattr(data, "schema") and hasattr(data, "column"):
        return {name: data.column(place) for place, name in enumerate(data.schema.names)}
    return data


def _groups(groups: Any, records: int) -> dict[str, Names]:
    """Columns of groups by name."""
    if groups is None:
        return {}
    groups = _by_name(groups)
    if not isinstance(groups, Mapping):
        raise refusal(
            RequestError, "R104", "groups", groups, "give a mapping of names to arrays, such as {'sex': sex}"
        )
    found: dict[str, Names] = {}
    for key, values in groups.items():
        name = str(key).strip()
        if not name or not name.isprintable() or _RESERVED.fullmatch(name):
            remedy = "this name is empty or taken: choose another"
            raise refusal(RequestError, "R104", "groups", name, remedy)
        found[name] = names_of(values, f"groups[{name!r}]", records, may_lack=True)
    return found


def _features(features: Any, records: int) -> NDArray[np.float32] | dict[str, list[str]] | None:
    """Numbers known without the model, or columns with texts among them."""
    if features is None:
        return None
    given = _by_name(plain(features))
    if isinstance(given, Mapping):
        columns = {
            str(name): column_of(values, f"features[{str(name)!r}]") for name, values in given.items()
        }
        if not columns:
            raise refusal(
                DataError, "R306", "features", None, "no columns: give at least one, or leave it out"
            )
        for name, own in columns.items():
            if len(own) != records:
                raise other_length(f"features[{name!r}]", len(own), records)
        if any(isinstance(own, list) for own in columns.values()):
            return {name: _texts(own, f"features[{name!r}]") for name, own in columns.items()}
        given = np.column_stack([np.asarray(own, dtype=np.float64) for own in columns.values()])
    given = array_of(given, "features")
    if given.dtype.kind in "OUS" and given.ndim == 2 and given.shape[1]:
        return _features({str(place): given[:, place] for place in range(given.shape[1])}, records)
    array = _tables.numbers(given, "features")
    shaped(array, "features", (records, None), "records × features")
    if not array.shape[1]:
        raise refusal(DataError, "R306", "features", None, "no columns: give at least one, or leave it out")
    return single(array, "features")


def _texts(column: Any, field: str) -> list[str]:
    texts = [None if value is None or value != value else str(value) for value in column]
    if any(text is None or not text.strip() for text in texts):
        raise refusal(
            DataError, "R307", field, None, "holds missing values: replace them, such as by 'missing'"
        )
    return [str(text) for text in texts]


def archive(path: Path, arrays: Mapping[str, Any]) -> Path:
    """Writes arrays to an archive of NumPy."""
    if sum(array.nbytes for array in arrays.values()) > _MOST_BYTES:
        remedy = "outputs of more than 4 GiB: give fewer models, or scores and reference_scores"
        raise refusal(DataError, "R317", "reference_logits", None, remedy)
    np.savez(path, **arrays)
    return path
