"""A short tour: a private statistic, a private model, its accounting, an audit and a report."""

from __future__ import annotations

import csv
import json
import os
import shutil
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from . import _native, _tables
from ._core import Certificate, Result, load, number, request
from .audit import Audit, audit_model, coins
from .audit.results import down, up
from .errors import DataError

#: Marks the folder of a demo, and holds its numbers when it is finished.
_MARKER = "demo.json"
_SCHEMA = "reticent-python-demo/1"
#: What a demo makes in its folder, besides the marker.
_MADE = ("data", "logistic", "overfitted", "overfitted-audit", "twin", "twin-audit", "report.html", "roc.svg")

#: The questions of the made-up survey, and the answers to each.
_COLUMNS = 12
_CHOICES = list("abcdefgh")
_STATISTIC_EPSILON = 0.1
_DELTA = 1e-5


@dataclass(frozen=True)
class _Recipe:
    """The numbers that differ between the demo and its quick variant."""

    records: int
    references: int
    overfitted: dict[str, Any]
    twin: dict[str, Any]


_FULL = _Recipe(
    records=1000,
    references=32,
    overfitted={"epochs": 60, "batch-size": 100, "learning-rate": 0.02},
    twin={"epochs": 20, "batch-size": 100, "learning-rate": 0.5},
)
_QUICK = _Recipe(
    records=300,
    references=4,
    overfitted={"epochs": 30, "batch-size": 50, "learning-rate": 0.05},
    twin={"epochs": 4, "batch-size": 50, "learning-rate": 0.5},
)


class Demo(Result):
    """What a demo found: ``statistic``, ``logistic``, ``accountants``, ``audits``, and its files."""

    _title: ClassVar[str] = "Demo"

    def _rows(self) -> list[tuple[str, str]]:
        own = self._data
        rows = [
            ("mean age", f"{number(own['statistic']['value'])} at ε = {up(own['statistic']['epsilon'])}"),
            ("logistic model", f"accuracy {number(own['logistic']['accuracy'], 3)} at ε = 1"),
        ]
        rows += [(f"AUC, {name}", number(audit["auc"], 3)) for name, audit in own["audits"].items()]
        return [*rows, ("report", own["report"])]


def demo(folder: str | os.PathLike[str] = "demo", quick: bool = False) -> Demo:
    """A tour of the package: a private statistic, a private model, its accounting, an audit and a report.

    It prints what it does and writes its files to ``folder``, which must be new, empty, or that of an earlier
    demo. It takes about half a minute; with ``quick`` a few seconds, on few records.

    >>> import contextlib, io, pathlib, tempfile
    >>> import reticent
    >>> with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()) as told:
    ...     found = reticent.demo(folder, quick=True)
    ...     page = pathlib.Path(found.report).read_text(encoding="utf-8")
    >>> "lower bound on ε" in told.getvalue(), page.startswith("<!")
    (True, True)
    """
    return _Tour(_taken(folder), _QUICK if quick else _FULL).run()


def _taken(folder: str | os.PathLike[str]) -> Path:
    """A new or empty folder, or one of an earlier demo, which is emptied."""
    if not _tables.is_path(folder):
        raise _refused(repr(folder), "give the path of a folder")
    place = Path(folder)
    try:
        place.mkdir(parents=True, exist_ok=True)
        if any(place.iterdir()):
            if not _is_ours(place):
                raise _refused(str(place), "the folder contains other files: give a new folder")
            for name in _MADE:
                made = place / name
                if made.is_dir() and not made.is_symlink():
                    shutil.rmtree(made)
                else:
                    made.unlink(missing_ok=True)
        _mark(place, {"finished": False})
        (place / "data").mkdir()
    except OSError as error:
        raise _refused(str(place), f"cannot be written: {error.strerror or error}") from error
    return place


def _is_ours(place: Path) -> bool:
    try:
        marker = json.loads((place / _MARKER).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(marker, dict) and marker.get("schema") == _SCHEMA


def _mark(place: Path, fields: dict[str, Any]) -> None:
    text = json.dumps({"schema": _SCHEMA, **fields}, indent=2, ensure_ascii=False)
    (place / _MARKER).write_text(text + "\n", encoding="utf-8")


def _refused(value: str, remedy: str) -> DataError:
    message = f"folder = {value}: {remedy}"
    return DataError(message, code="R304", field="folder", value=value, remedy=remedy)


class _Tour:
    def __init__(self, folder: Path, recipe: _Recipe) -> None:
        self.folder = folder
        self.recipe = recipe
        # The same made-up people in every demo.
        self.people = np.random.default_rng(1994)

    def run(self) -> Demo:
        self.say("Reticent: statistics and models from private data, with differential privacy.")
        self.say(f"All files are written to {self.folder}/.")
        fields = {
            "statistic": self.statistic(),
            "logistic": self.logistic(),
            "accountants": self.accounting(),
            **self.membership(),
        }
        _mark(self.folder, {"finished": True, **fields})
        return Demo(fields)

    def say(self, text: str) -> None:
        print(textwrap.fill(text, 96))

    def title(self, text: str) -> None:
        print(f"\n{text}\n{'-' * len(text)}")

    def code(self, text: str) -> None:
        print(textwrap.indent(text, "    "))

    def table(self, rows: list[tuple[str, ...]]) -> None:
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for row in rows:
            cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
            print(f"  {'  '.join(cells)}".rstrip())

    def statistic(self) -> dict[str, Any]:
        """Part 1: a private statistic."""
        self.title("1  A private statistic")
        self.say(
            "How old are the people of a census extract on average? Noise in the answer hides every single one "
            "of them. ε bounds how much the answer can reveal about one person: here it is "
            f"{_STATISTIC_EPSILON}. Smaller is more private."
        )
        question = {"kind": "mean", "column": "age", "bounds": [17.0, 90.0]}
        census, _ = _native.Table.bundled()
        asked = request({"file": "", "question": question, "epsilon": _STATISTIC_EPSILON})
        answer = load(_native.release(asked, census))
        value, (low, high) = answer["value"], answer["interval"]
        self.table([("mean age", f"{number(value)}", f"{number(low)} to {number(high)} (95 % confidence)")])
        self.code("reticent.release.mean(data, 'age', bounds=(17, 90), epsilon=0.1)")
        return {"value": value, "interval": [low, high], "epsilon": answer["certificate"]["epsilon"]}

    def logistic(self) -> dict[str, Any]:
        """Part 2: a private model of the bundled census records."""
        self.title("2  A private model")
        self.say(
            "Who earns more than 50,000 dollars? A logistic regression learns it from a public extract of "
            "the 1994 US census, which comes with the package and is treated as if it were private."
        )
        asked = request({"epsilon": 1.0, "out": self.folder / "logistic"})
        fitted = load(_native.fit(asked))
        certificate = Certificate(fitted["certificate"])
        self.table(
            [
                ("accuracy", number(fitted["accuracy"], 3), fitted["tested"]),
                ("always the larger class", number(fitted["majority"], 3), ""),
                ("guarantee", str(certificate), ""),
            ]
        )
        self.say(f"The model and its certificate are in {self.folder / 'logistic'}.")
        return {"accuracy": fitted["accuracy"], "certificate": certificate.to_dict()}

    def accounting(self) -> dict[str, float]:
        """Part 3: what things cost together."""
        self.title("3  What it costs")
        certificate = Certificate.load(self.folder / "logistic" / "certificate.json")
        verdict = "holds" if certificate.verify() else "is not known to hold"
        self.say(f"The guarantee of the model, recomputed from the events in its certificate, {verdict}.")
        self.say(
            "The costs of answers about the same people add up. For 10,000 steps of DP-SGD with noise "
            "multiplier 1.1 and sampling rate 0.01, the bound at δ = 1e-5 depends on the accountant, though "
            "the noise is the same:"
        )
        training = {"noise_multiplier": 1.1, "sampling_rate": 0.01, "steps": 10_000}
        question = {"compare": {"delta": _DELTA}}
        found = load(_native.account(request({"question": question, "happened": {"training": training}})))
        listed = [row for row in found["accountants"] if row["epsilon"] is not None]
        rows = {row["accountant"]: row["epsilon"] for row in listed}
        self.table([(name, f"ε ≤ {up(epsilon)}") for name, epsilon in rows.items()])
        self.code("(reticent.accounting.Gaussian(1.1).poisson(0.01) * 10_000).epsilon(delta=1e-5)")
        return rows

    def membership(self) -> dict[str, Any]:
        """Part 4: an overfitted model and its private twin under attack."""
        self.title("4  Who was in the training data?")
        count = self.recipe.records
        member = self.survey(count)
        self.say(
            "A model that memorizes its training data reveals who was in it. A fair coin for each of "
            f"{count} made-up people decides who is a member. Two networks learn from the "
            f"{int(member.sum())} members: one far too long and without privacy, its twin with DP-SGD at "
            f"ε = 3. The attacker has {self.recipe.references} reference models."
        )
        exact = {"non-private": True, "optimizer": "adam", "schedule": "linear"}
        private = {"epsilon": 3.0, "delta": _DELTA, "dataset-size": count // 2}
        audits = {
            "overfitted": self.audited("overfitted", {**exact, **self.recipe.overfitted}),
            "twin": self.audited("twin", {**private, **self.recipe.twin}),
        }
        header = ("", "AUC (0.5 is guessing)", "lower bound on ε (audit)", "upper bound on ε (certificate)")
        self.table([header, *((name, *_bounds(audit)) for name, audit in audits.items())])
        self.say("Intervals and lower bounds are at 95 % confidence, all bounds at δ = 1e-5.")
        self.say(
            "An audit that finds little proves little, because a better attack may exist; the certificate "
            "holds against all attacks."
        )
        page = self.folder / "report.html"
        (self.folder / "roc.svg").write_text(audits["overfitted"].plot(), encoding="utf-8")
        title = "The demo's overfitted model"
        declared = {"title": title, "model": "overfitted", "author": "reticent.demo"}
        audits["overfitted"].report(page, declared=declared)
        self.title("5  The report")
        self.say(f"Open {page} in a browser; it works offline. Its ROC curves: {self.folder / 'roc.svg'}.")
        shown = {
            name: {
                "auc": audit.auc,
                "headline": audit.headline,
                "epsilon_lower": None if audit.epsilon_lower is None else audit.epsilon_lower.to_dict(),
            }
            for name, audit in audits.items()
        }
        return {"audits": shown, "report": str(page)}

    def survey(self, count: int) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Writes the answers of members and of others; who is a member."""
        data = self.folder / "data"
        answers = np.array(_CHOICES)[self.people.integers(len(_CHOICES), size=(count, _COLUMNS))]
        leaning = np.where(answers[:, 0] < _CHOICES[4], 0.3, 0.7)
        labels = np.where(self.people.random(count) < leaning, "yes", "no")
        member = coins(count)
        names = [f"q{place}" for place in range(_COLUMNS)]
        for name, chosen in (("members", member), ("others", ~member)):
            with open(data / f"{name}.csv", "w", newline="", encoding="utf-8") as file:
                rows = csv.writer(file)
                rows.writerow([*names, "answer"])
                own = zip(answers[chosen].tolist(), labels[chosen], strict=True)
                rows.writerows([*row, label] for row, label in own)
        columns = "".join(f"{name} = {{ categories = {json.dumps(_CHOICES)} }}\n" for name in names)
        schema = f'unit = "row"\n\n[label]\ncolumn = "answer"\npositive = "yes"\n\n[columns]\n{columns}'
        (data / "schema.toml").write_text(schema, encoding="utf-8")
        # Besides its categories, a column may be missing or something else.
        layers = ['kind = "linear"\nout = 256', 'kind = "relu"', 'kind = "linear"\nout = 2']
        inputs = _COLUMNS * (len(_CHOICES) + 2)
        network = "".join(f"\n[[layer]]\n{layer}\n" for layer in layers)
        (data / "wide.toml").write_text(f"input = [{inputs}]\n{network}", encoding="utf-8")
        return member

    def audited(self, name: str, settings: dict[str, Any]) -> Audit:
        """Trains a network on the members and audits it."""
        data = self.folder / "data"
        files = {
            "data": data / "members.csv",
            "validation": data / "others.csv",
            "schema": data / "schema.toml",
            "model": os.fspath(data / "wide.toml"),
            "out": self.folder / name,
        }
        _native.train(request({**files, **settings}))
        # The coins of `survey` are the premise of the lower bound.
        return audit_model(self.folder / name, references=self.recipe.references, drawn=0.5, progress=False)


def _bounds(audit: Audit) -> tuple[str, str, str]:
    """The AUC, and the lower and the upper bound on ε."""
    auc, lower, upper = audit.attack().auc, audit.epsilon_lower, audit.certificate
    return (
        f"{number(auc.value, 3)} ({down(auc.lower, 3)} to {up(auc.upper, 3)})",
        "none" if lower is None else down(lower.value, 3),
        "none" if upper is None else up(upper.epsilon, 3),
    )
