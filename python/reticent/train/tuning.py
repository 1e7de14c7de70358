"""Searches for the settings of a network, with their whole cost."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from .. import _folder, _native
from .._arguments import items, path, real, refused, text
from .._core import Certificate, Result, brief, load as outcome_of, number, request, warn
from .._models_spending import count_fit
from .._refusals import one_of
from .network import Network
from .refusals import naming_arguments
from .request import Request
from .settings import charged, shown
from .trained import TrainedNetwork

_Layers = str | Iterable[Mapping[str, Any]]

#: Arguments of a training that a search does not have: its trials are not stored, seen or gone on with.
_WITHOUT = ("callbacks", "checkpoint_every")


class Tuned(Result):
    """The best trial of a search, made by :func:`tune`.

    ``model`` is the trained network, ``chosen`` the settings that were drawn for it, and ``certificate`` the
    guarantee of the whole search. Besides them it has the fields of the command's outcome: ``held_out`` (the
    noisy score), ``accuracy`` and ``loss`` on the validation data, ``trials`` (their mean number; how many there
    were stays hidden), ``distribution``, ``select_on``, ``noise_multiplier``, ``steps``, ``batch_size``.

    >>> import numpy as np
    >>> import reticent
    >>> X = np.random.default_rng(11).uniform(0, 1, (200, 2))
    >>> tuned = reticent.tune("logistic", X, X[:, 0] > 0.5, search={"clip": [0.5, 1]}, trials=2, bounds=(0, 1),
    ...                       classes=[False, True], epsilon=3, delta=1e-5, dataset_size=180, batch_size=90, steps=2)
    >>> tuned.certificate.verify(), tuned.epsilon <= 3, tuned.model.predict(X).shape
    (True, True, (200,))
    >>> print(tuned)
    Best of a search
      chosen     clip ...
      search     the best of 2 trials on average (geometric), scored on held-out
      network    logistic, 10 weights
      guarantee  (ε ≤ ..., δ ≤ 1e-5) for each row, add-remove
      score      ...
    """

    _title: ClassVar[str] = "Best of a search"
    _model: TrainedNetwork

    @classmethod
    def _of(cls, place: _folder.Folder, outcome: Mapping[str, Any], device: str, chunk: int | None) -> Tuned:
        chosen = {key.replace("-", "_"): value for key, value in outcome["chosen"].items()}
        tuned = cls({**{key: value for key, value in outcome.items() if key != "out"}, "chosen": chosen})
        epochs = outcome["steps"] * outcome["batch_size"] / max(outcome["dataset_size"], 1)
        of_search = ("chosen", "distribution", "select_on", "trials")
        own = {key: value for key, value in outcome.items() if key not in of_search}
        own["warnings"] = []
        object.__setattr__(tuned, "_model", TrainedNetwork._of(place, {**own, "epochs": epochs}, device, chunk))
        return tuned

    @property
    def model(self) -> TrainedNetwork:
        """The trained network. Its certificate is that of the whole search."""
        return self._model

    @property
    def certificate(self) -> Certificate:
        """The privacy guarantee of the whole search."""
        return Certificate(self._data["certificate"])

    @property
    def epsilon(self) -> float:
        """The ε of the whole search, an upper bound."""
        return float(self._data["certificate"]["epsilon"])

    @property
    def delta(self) -> float:
        """The δ of the whole search."""
        return float(self._data["certificate"]["delta"])

    def __getstate__(self) -> dict[str, Any]:
        return {"outcome": self._data, "model": self._model}

    def __setstate__(self, state: dict[str, Any]) -> None:
        object.__setattr__(self, "_data", state["outcome"])
        object.__setattr__(self, "_model", state["model"])

    def _rows(self) -> list[tuple[str, str]]:
        data = self._data
        score = data.get("held_out") or data
        named = {name: score.get(name) for name in ("accuracy", "accuracy_doubt", "rmse", "loss")}
        shown = [f"{name} {number(value)}" for name, value in named.items() if value is not None]
        kind = f"({data['distribution']}), scored on {data['select_on']}"
        return [
            ("chosen", ", ".join(f"{key} {value}" for key, value in data["chosen"].items())),
            ("search", f"the best of {number(data['trials'])} trials on average {kind}"),
            ("network", f"{self._model._data.get('model') or 'network'}, {data['weights']} weights"),
            ("guarantee", str(self.certificate)),
            ("score", f"{', '.join(shown) or 'too noisy to tell'}: the best of several, so too good on average"),
        ]


def tune(
    network: Network | _Layers,
    X: Any,
    y: Any = None,
    *,
    search: str | Mapping[str, Any],
    trials: float | None = None,
    trials_distribution: str | None = None,
    select_on: str | None = None,
    **settings: Any,
) -> Tuned:
    """Searches the settings of a network with differential privacy: ``reticent tune``.

    A random number of trials is drawn, ``trials`` on average (10 by default). Each draws settings at random,
    trains with privacy and is scored; the best is kept. ``epsilon`` and ``delta`` are those of the whole search:
    the best of K private trainings, with K random and hidden, costs more than one of them and less than K
    (Papernot and Steinke 2022). How long a search takes tells how many trials there were: do not publish it.

    ``search`` maps settings to what they are drawn from: a list of values, a pair ``(low, high)``, or ``(low,
    high, "log")`` for numbers that are uniform in the logarithm. It can also be the text of ``--search``, as in
    ``"lr=0.1..4 log, clip=0.1|0.5|1"``. Searched are ``learning_rate``, ``clip``, ``clipping``, ``momentum``,
    ``weight_decay``, ``label_smoothing``, ``optimizer``, ``schedule``, ``warmup``, ``average`` and ``model``
    (names of presets); and as lists ``epochs`` or ``steps``, and ``batch_size``, each value with its own noise.

    ``trials_distribution`` is ``"geometric"`` (the default) or ``"logarithmic"``. ``select_on`` is
    ``"held-out"``: trials are scored with noise on ``held_out`` of the rows (0.1 by default), which is part of
    ε; or ``"validation"``: they are scored on ``validation``, which is public.

    ``X``, ``y`` and all other arguments are those of :meth:`Network.fit`, but for ``callbacks`` and
    ``checkpoint_every``. A search that is stopped keeps nothing, and its whole ε is spent.

    >>> import numpy as np
    >>> import reticent
    >>> rng = np.random.default_rng(12)
    >>> X = rng.uniform(0, 1, (300, 2))
    >>> search = {"learning_rate": (0.1, 4, "log"), "batch_size": [50, 100]}
    >>> tuned = reticent.tune("logistic", X, X[:, 0] > X[:, 1], search=search, trials=2, bounds=(0, 1),
    ...                       classes=[False, True], epsilon=3, delta=1e-5, dataset_size=270, steps=3)
    >>> sorted(tuned.chosen), tuned.epsilon <= 3
    (['batch_size', 'learning_rate'], True)
    >>> tuned.model.evaluate(X, X[:, 0] > X[:, 1]).rows
    300
    """
    parameters = inspect.signature(Network.fit).parameters
    known = [name for name in parameters if name not in ("self", "X", "y", *_WITHOUT)]
    for name in settings:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            hint = f"did you mean {near[0]}?" if near else f"the arguments are {', '.join(known)}"
            raise refused(101, name, "unknown argument", hint)
    own = network if isinstance(network, Network) else Network(network)
    budget, progress = charged(settings.get("budget")), shown(settings.get("progress"))
    out = settings.get("out")
    asked: dict[str, Any] = {
        "search": search_text(search),
        "trials": real("trials", trials),
        "trials_distribution": text("trials_distribution", trials_distribution),
    }
    asked["select_on"] = None if select_on is None else one_of("select_on", select_on, ("held-out", "validation"))
    place = _folder.Folder(None if out is None else path("out", out, "give a new folder"))
    try:
        with _folder.private_folder() as private, naming_arguments(private):
            training = Request(own, X, y, settings, private)
            fields = {**training.fields, "out": place.path}
            if isinstance(settings.get("classes"), str):
                # Classes that are found in y are declared to be public: the certificate says so.
                fields["observed_labels"] = True
            filled = {key: value for key, value in fields.items() if value is not None}
            asking = request({**asked, "train": filled})
            answer = _native.tune(asking, training.data, training.validation, budget, progress)
        tuned = Tuned._of(place, outcome_of(answer), fields["device"], fields["chunk"])
        count_fit(tuned.certificate)
    except BaseException:
        place.remove()
        raise
    warn(tuned.warnings)
    return tuned


def search_text(search: Any) -> str:
    """What is searched, as the command writes it."""
    if isinstance(search, str):
        return text("search", search) or ""
    if not isinstance(search, Mapping) or not search:
        remedy = "give a mapping such as {'learning_rate': (0.1, 4, 'log'), 'clip': [0.1, 0.5, 1]}"
        raise refused(104, "search", f"{brief(search)} is not a mapping of settings", remedy, search)
    return ", ".join(f"{_name(key)}={_values(key, values)}" for key, values in search.items())


def _name(key: Any) -> str:
    if not isinstance(key, str) or not key.replace("_", "").replace("-", "").isalpha():
        remedy = "give names of arguments, such as learning_rate"
        raise refused(104, "search", f"{brief(key)} is not the name of a setting", remedy, key)
    return key


def _values(key: str, values: Any) -> str:
    """A range ``(low, high)`` or ``(low, high, "log")``, or a list of values."""
    if isinstance(values, tuple):
        low, high, *kind = values if len(values) in (2, 3) else (None, None)
        if low is None or high is None or kind not in ([], ["log"]):
            remedy = "give (low, high), (low, high, 'log'), or a list of values"
            raise refused(104, "search", f"{key}: {brief(values)} is not a range", remedy, values)
        return f"{_value(key, low)}..{_value(key, high)}{' log' if kind else ''}"
    own = [values] if isinstance(values, str) else items(values)
    if not own:
        remedy = "give a list of values, or a range such as (0.1, 4, 'log')"
        raise refused(104, "search", f"{key}: {brief(values)} is not a list of values", remedy, values)
    return "|".join(_value(key, value) for value in own)


def _value(key: str, value: Any) -> str:
    if isinstance(value, str):
        if not value.strip() or any(mark in value for mark in ",|="):
            remedy = "give a name, such as 'adam'"
            raise refused(104, "search", f"{key}: {brief(value)} is not a name", remedy, value)
        return value
    found = real("search", value)
    if found is None:
        raise refused(104, "search", f"{key}: None is not a value", "give numbers or names")
    return repr(int(found)) if found == int(found) else repr(found)
