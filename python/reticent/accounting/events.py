"""Lists of events: how they are built, joined, sampled, read and written."""

from __future__ import annotations

import html
import json
import math
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from .._refusals import conflict, invalid, missing, one_of, relation
from .._core import Result
from ..errors import DataError, PrivacyError, RequestError
from .notation import term
from .plots import epsilon_chart, tradeoff_chart
from .questions import Questions
from .values import MOST, contents, items, real, to_json, unit_of, whole
from .wire import Parts, checked_event, is_bare, merged, parts_of, read_list, repeated


class Events(Questions):
    """A list of mechanisms that touched private data, with the neighboring relation of their sensitivities.

    Functions such as :func:`Gaussian` create a list of one event. ``events * n`` repeats it, ``events +
    others`` puts others behind it on the same data, and methods such as :meth:`poisson` sample it. The
    methods :meth:`epsilon`, :meth:`delta` and so on answer questions about all events together.

    Noise multipliers are the scale of the noise divided by the sensitivity *under the relation of the
    list*, which is add-remove unless :meth:`under` says otherwise. :func:`ClippedSum` has the same meaning
    under both.

    Events also come from their JSON form, or that of a certificate:

    >>> from reticent.accounting import Laplace
    >>> Events([{"laplace": {"noise_multiplier": 20}}]) == Laplace(20)
    True
    >>> Events.from_json('{"gaussian": {"noise_multiplier": 5}}').epsilon(delta=1e-6) < 0.835
    True
    """

    #: Arrays of NumPy do not multiply events.
    __array_ufunc__ = None

    __slots__ = ("_neighboring", "_parts", "_stated", "_training", "_unit")

    _parts: Parts
    _neighboring: str
    _unit: str | None
    #: The description of a training run, where these are exactly its events.
    _training: str | None
    #: Whether the relation was stated with the events, and not by who built them here.
    _stated: bool

    def __init__(
        self,
        events: Iterable[Mapping[str, Any]] = (),
        *,
        neighboring: str = "add-remove",
        unit: str | None = None,
    ) -> None:
        given = items(events)
        if given is None:
            remedy = "give a list of events, or use Events.from_json"
            raise RequestError(f"events: {remedy}", code="R104", field="events", remedy=remedy)
        listed = read_list(to_json(given, "events"))["events"]
        self._set(parts_of(listed), relation(neighboring), unit_of(unit), None, True)

    def _set(
        self, parts: Parts, neighboring: str, unit: str | None, training: str | None, stated: bool
    ) -> None:
        fix = object.__setattr__
        fix(self, "_parts", parts)
        fix(self, "_neighboring", neighboring)
        fix(self, "_unit", unit)
        fix(self, "_training", training)
        fix(self, "_stated", stated)
        fix(self, "_happened", None)

    @classmethod
    def _build(
        cls,
        parts: Parts,
        neighboring: str = "add-remove",
        unit: str | None = None,
        training: str | None = None,
        stated: bool = False,
    ) -> Events:
        made = cls.__new__(cls)
        made._set(parts, neighboring, unit, training, stated)
        return made

    # Reading and writing

    @classmethod
    def from_json(cls, events: Any, *, neighboring: str | None = None) -> Events:
        """Events from JSON, as text or as plain data.

        It may be a list with its relation, a certificate, a bare list, or one event. Bare ones are
        add-remove unless ``neighboring`` says otherwise.

        >>> Events.from_json({"neighboring": "replace-one", "events": [{"pure": {"epsilon": 0.5}}]})
        Pure(0.5).under('replace-one')
        """
        if isinstance(events, (Events, Result)):
            events = events.to_dict()
        if isinstance(events, bytes):
            try:
                events = events.decode("utf-8-sig")
            except UnicodeDecodeError:
                remedy = "it is not UTF-8 text: give JSON"
                raise DataError(f"events: {remedy}", code="R305", field="events", remedy=remedy) from None
        text = events.lstrip("\ufeff") if isinstance(events, str) else to_json(events, "events")
        found = read_list(text)
        stated = found["neighboring"]
        if neighboring is not None:
            neighboring = relation(neighboring)
            if stated is not None and stated != neighboring:
                remedy = f"leave it out: the events are stated under {stated}"
                raise conflict("neighboring", neighboring, remedy)
        if stated is None and neighboring is None and not is_bare(json.loads(text)):
            raise missing("neighboring", 'give "add-remove" or "replace-one", or add it to the events')
        stated = stated or neighboring or "add-remove"
        return cls._build(parts_of(found["events"]), stated, unit_of(found["unit"]), None, True)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, neighboring: str | None = None) -> Events:
        """Events from a JSON file in any form that :meth:`from_json` reads, such as ``certificate.json``.

        >>> import tempfile
        >>> from reticent.accounting import Laplace
        >>> with tempfile.NamedTemporaryFile(suffix=".json") as file:
        ...     Laplace(20).save(file.name)
        ...     Events.load(file.name)
        Laplace(20)
        """
        return cls.from_json(contents(path), neighboring=neighboring)

    def to_dict(self) -> dict[str, Any]:
        """The events as plain data, with their relation.

        >>> from reticent.accounting import Laplace
        >>> Laplace(20).to_dict()
        {'neighboring': 'add-remove', 'events': [{'laplace': {'noise_multiplier': 20.0}}]}
        """
        data: dict[str, Any] = {"neighboring": self._neighboring, "events": self.events}
        if self._unit is not None:
            data["unit"] = self._unit
        return data

    def to_json(self, *, indent: int | None = None) -> str:
        """The events as JSON; ``reticent account --events`` reads it, too.

        >>> from reticent.accounting import Laplace
        >>> Laplace(20).to_json()
        '{"neighboring": "add-remove", "events": [{"laplace": {"noise_multiplier": 20.0}}]}'
        """
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the events to a JSON file; :meth:`load` reads it."""
        Path(path).write_text(self.to_json(indent=2) + "\n", encoding="utf-8")

    @property
    def events(self) -> list[dict[str, Any]]:
        """The events in their JSON form: a copy."""
        return json.loads(self._listed())  # type: ignore[no-any-return]

    @property
    def neighboring(self) -> str:
        """``"add-remove"`` or ``"replace-one"``."""
        return self._neighboring

    @property
    def unit(self) -> str | None:
        """What one unit of protection is, if a certificate says so."""
        return self._unit

    # Building

    def under(self, neighboring: str) -> Events:
        """The same events with sensitivities that refer to this neighboring relation.

        It is ``"add-remove"`` or ``"replace-one"``. Numbers do not change, so this states what the noise
        multipliers mean. For example,
        ``Gaussian(2).under("replace-one")`` is noise of twice the distance that replacing a record can move
        the answer. :func:`ClippedSum` and :func:`dpsgd` have the same meaning under both relations. Others that
        were read with their relation, such as those of a certificate, cannot be given another one.

        >>> from reticent.accounting import ClippedSum, Gaussian
        >>> ClippedSum(2).under("replace-one").epsilon(delta=1e-6) == Gaussian(1).epsilon(delta=1e-6).upper
        True
        """
        neighboring = relation(neighboring)
        if neighboring == self._neighboring:
            return self
        if self._stated and not all(_is_invariant(event) for event in self.events):
            remedy = (
                f"these events were stated under {self._neighboring}, and their noise multipliers mean "
                f"something else under {neighboring}: state them anew"
            )
            text = f"neighboring = {neighboring}: {remedy}"
            raise PrivacyError(text, code="R402", field="neighboring", value=neighboring, remedy=remedy)
        return self._build(self._parts, neighboring, self._unit, None, self._stated)

    def __mul__(self, count: Any) -> Events:
        times = whole("count", count)
        if times == 1:
            return self
        parts = tuple((own * times, text) for own, text in self._parts) if times else ()
        if any(own > MOST for own, _ in parts):
            raise invalid("count", str(times), f"give fewer: no more than {MOST} repetitions are counted")
        return self._build(parts, self._neighboring, self._unit, None, self._stated)

    __rmul__ = __mul__

    def __add__(self, other: object) -> Events:
        if not isinstance(other, Events):
            if isinstance(other, int) and not isinstance(other, bool) and other == 0:
                return self
            return NotImplemented
        unit = self._joined(other)
        if not other._parts and unit == self._unit:
            return self
        parts = merged(self._parts + other._parts)
        return self._build(parts, self._neighboring, unit, None, self._stated or other._stated)

    # For sum(), which starts with 0.
    __radd__ = __add__

    def _joined(self, other: Events) -> str | None:
        """The unit of both; refuses events that do not go together."""
        if self._neighboring != other._neighboring:
            text = (
                f"events under {self._neighboring} and events under {other._neighboring} do not add up: "
                "state all of them under one relation"
            )
            raise RequestError(text, code="R103", field="neighboring", value=other._neighboring, remedy=text)
        if self._unit is not None and other._unit is not None and self._unit != other._unit:
            text = f"events that protect each {self._unit} and each {other._unit} do not add up"
            raise RequestError(text, code="R103", field="unit", value=other._unit, remedy=text)
        return other._unit if self._unit is None else self._unit

    def _wrapped(self, kind: str, fields: Mapping[str, Any]) -> Events:
        """One event of this kind around all events."""
        body = "".join(f'"{name}":{json.dumps(value)},' for name, value in fields.items())
        event = checked_event(f'{{"{kind}":{{{body}"event":{self._one()}}}}}')
        return self._build(parts_of([event]), self._neighboring, self._unit, None, self._stated)

    def poisson(self, rate: float) -> Events:
        """All events on one Poisson sample: every record is in it independently with probability ``rate``.

        Under replace-one, state a sum of gradients as :func:`ClippedSum`, whose cost is exact.

        >>> from reticent.accounting import Gaussian
        >>> Gaussian(1).poisson(0.01).epsilon(delta=1e-6) < 0.364
        True
        """
        return self._wrapped("poisson_sampled", {"rate": real("rate", rate)})

    def without_replacement(self, *, dataset_size: int, batch_size: int) -> Events:
        """All events on one batch of fixed size, drawn without replacement.

        It is accounted for under replace-one.

        >>> from reticent.accounting import ClippedSum
        >>> step = ClippedSum(1).under("replace-one").without_replacement(dataset_size=1000, batch_size=10)
        >>> step.epsilon(delta=1e-6) < 4.3
        True
        """
        records, batch = whole("dataset_size", dataset_size, 1), whole("batch_size", batch_size)
        return self._wrapped("sampled_without_replacement", {"dataset_size": records, "batch_size": batch})

    def truncated_poisson(self, rate: float, *, dataset_size: int, max_batch: int) -> Events:
        """All events on one Poisson sample of which at most ``max_batch`` records are kept.

        Gaussian noise and add-remove only.

        >>> from reticent.accounting import Gaussian
        >>> step = Gaussian(1.4).truncated_poisson(0.01, dataset_size=20_000, max_batch=240)
        >>> step.epsilon(delta=1e-6) < 0.189
        True
        """
        fields = {
            "dataset_size": whole("dataset_size", dataset_size, 1),
            "rate": real("rate", rate),
            "max_batch": whole("max_batch", max_batch, 1),
        }
        return self._wrapped("truncated_poisson", fields)

    def shuffled(self, *, steps_per_epoch: int, epochs: int = 1) -> Events:
        """All events on every batch of a shuffled list, one pass per epoch: what most data loaders do.

        No amplification by sampling is claimed for them.

        >>> from reticent.accounting import Gaussian
        >>> Gaussian(5).shuffled(steps_per_epoch=100, epochs=2)
        Gaussian(5).shuffled(steps_per_epoch=100, epochs=2)
        """
        per_epoch = whole("steps_per_epoch", steps_per_epoch, 1)
        return self._wrapped("shuffled", {"steps_per_epoch": per_epoch, "epochs": whole("epochs", epochs)})

    def balls_in_bins(self, *, bins: int, epochs: int = 1) -> Events:
        """All events on every batch, where each record is in one random batch of each epoch, independently.

        >>> from reticent.accounting import Gaussian
        >>> Gaussian(0.9).balls_in_bins(bins=100)
        Gaussian(0.9).balls_in_bins(bins=100, epochs=1)
        """
        fields = {"bins": whole("bins", bins, 1), "epochs": whole("epochs", epochs)}
        return self._wrapped("balls_in_bins", fields)

    def repeat_and_select(self, mean: float, *, shape: float | str = 1.0) -> Events:
        """All events as one trial that is run a random number of times, of which the best is kept.

        Private hyperparameter search.

        ``mean`` is the mean number of trials, and ``shape`` is that of its truncated negative binomial law:
        above -1, 1 for a geometric one, ``"poisson"`` for a Poisson number of trials.

        >>> from reticent.accounting import Gaussian
        >>> (Gaussian(1.5)).repeat_and_select(8, shape=1).epsilon(delta=1e-6) < 5.87
        True
        """
        law: float | str
        if isinstance(shape, str):
            law = one_of("shape", shape, ("a number above -1", "poisson"))
        elif isinstance(shape, float) and shape == math.inf:
            law = "poisson"
        else:
            law = real("shape", shape)
        return self._wrapped("repeat_and_select", {"mean": real("mean", mean), "shape": law})

    def _describe(self) -> str:
        if self._training is not None:
            return f'{{"training":{self._training}}}'
        unit = "" if self._unit is None else f',"unit":{json.dumps(self._unit)}'
        log = f'{{"neighboring":"{self._neighboring}","events":{self._listed()}}}'
        return f'{{"events":{{"log":{log}{unit}}}}}'

    def _listed(self) -> str:
        return f"[{','.join(repeated(count, text) for count, text in self._parts)}]"

    def _one(self) -> str:
        """All events as one."""
        if len(self._parts) == 1:
            return repeated(*self._parts[0])
        return f'{{"composed":{{"events":{self._listed()}}}}}'

    def plot(self, kind: str = "tradeoff", *, ax: Any = None) -> Any:
        """A curve of the guarantee.

        ``kind`` is ``"tradeoff"`` (least false-negative rate against false-positive rate) or ``"epsilon"``
        (ε against δ).

        Returns SVG as text, or draws onto the matplotlib axes ``ax`` and returns them.

        >>> from reticent.accounting import Gaussian
        >>> Gaussian(1).plot()[:4]
        '<svg'
        """
        kind = one_of("kind", kind, ("tradeoff", "epsilon"))
        chart = (tradeoff_chart if kind == "tradeoff" else epsilon_chart)(self)
        return chart.svg() if ax is None else chart.draw(ax)

    # Behaving as a value

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("events cannot be changed: * and + make new ones")

    def __delattr__(self, name: str) -> None:
        raise AttributeError("events cannot be changed: * and + make new ones")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Events):
            return NotImplemented
        mine = (self._parts, self._neighboring, self._unit)
        return mine == (other._parts, other._neighboring, other._unit)

    def __hash__(self) -> int:
        return hash((self._parts, self._neighboring, self._unit))

    def __reduce__(self) -> tuple[Any, ...]:
        return (Events._build, (self._parts, self._neighboring, self._unit, self._training, self._stated))

    def __copy__(self) -> Events:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Events:
        return self

    def __repr__(self) -> str:
        terms = [term(json.loads(repeated(count, text))) for count, text in self._parts]
        if len(terms) > 12:
            terms = [*terms[:6], "…", *terms[-3:]]
        shown = " + ".join(terms) if terms else "Events()"
        if self._neighboring == "add-remove":
            return shown
        is_call = len(terms) < 2 and not (terms and self._parts[0][0] != 1)
        return f"{shown if is_call else f'({shown})'}.under({self._neighboring!r})"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td style='text-align:right'>{count} ×</td>"
            f"<td style='text-align:left'>{html.escape(term(json.loads(text)))}</td></tr>"
            for count, text in self._parts[:50]
        )
        if len(self._parts) > 50:
            rows += f"<tr><td></td><td>and {len(self._parts) - 50} more</td></tr>"
        caption = f"Events ({self._neighboring})"
        return f"<table><caption>{caption}</caption>{rows}</table>"


def _is_invariant(event: Mapping[str, Any]) -> bool:
    """Whether an event means the same under both relations: a clipped sum, however it is sampled or repeated."""
    ((kind, fields),) = event.items()
    if kind == "clipped_sum":
        return True
    inside = fields.get("events", [fields["event"]] if "event" in fields else [])
    return bool(inside) and all(_is_invariant(own) for own in inside)
