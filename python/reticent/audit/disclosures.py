"""What attacks on attributes and on whole records find."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from .._core import Result
from .results import Estimate


class DisclosureMeasure(Result):
    """One figure of an attack on attributes or records, beside what is guessed without the model."""

    _title: ClassVar[str] = "Measure"

    @property
    def attack(self) -> Estimate:
        """The figure with the model, the gradient or the release."""
        return Estimate(self._data["attack"])

    @property
    def baseline(self) -> Estimate | None:
        """The same without it."""
        return self._estimate("baseline")

    @property
    def difference(self) -> Estimate | None:
        """What the model adds: the attack less the baseline."""
        return self._estimate("difference")

    def _estimate(self, name: str) -> Estimate | None:
        found = self._data.get(name)
        return None if found is None else Estimate(found)

    def __str__(self) -> str:
        without = "" if self.baseline is None else f"; without the model {self.baseline!r}"
        return f"{self._data['what']}, {self._data['condition']}: {self.attack!r}{without}"


class Disclosure(Result):
    """What one attack on attributes or records recovered. It holds no record and no attribute of anyone."""

    _title: ClassVar[str] = "Disclosure"

    @property
    def measures(self) -> list[DisclosureMeasure]:
        """The figures, one for each condition; the first was chosen before any result was seen."""
        return [DisclosureMeasure(measure) for measure in self._data["measures"]]

    def _rows(self) -> list[tuple[str, str]]:
        own = self._data
        rows = [("attack", f"{own['name']}: {own['about']}"), ("records", str(own["records"]))]
        rows += [("measure", str(measure)) for measure in self.measures]
        return rows + [("note", text) for text in own["warnings"]]


class Disclosures(Result):
    """What attacks on attributes or records recovered, one after the other: iterate, or index by name."""

    _title: ClassVar[str] = "Disclosures"

    @property
    def disclosures(self) -> list[Disclosure]:
        """What each attack found."""
        return [Disclosure(disclosure) for disclosure in self._data["disclosures"]]

    def __iter__(self) -> Iterator[Disclosure]:
        return iter(self.disclosures)

    def __len__(self) -> int:
        return len(self._data["disclosures"])

    def __getitem__(self, name: str) -> Disclosure:
        for disclosure in self:
            if disclosure.name == name:
                return disclosure
        known = ", ".join(disclosure.name for disclosure in self)
        raise KeyError(f"{name!r} was not run; there are {known}")

    def _rows(self) -> list[tuple[str, str]]:
        rows: list[tuple[str, Any]] = []
        for disclosure in self:
            rows += disclosure._rows()
        return rows
