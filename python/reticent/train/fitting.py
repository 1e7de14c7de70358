"""Trainings: begun, and continued after they were stopped."""

from __future__ import annotations

import difflib
import inspect
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Concatenate, ParamSpec, TypeVar

from .. import _folder, _native
from .._arguments import flag, path, refused, whole
from .._budget import Budget
from .._models_spending import count_fit
from .._core import load as outcome_of, request, warn
from .._refusals import one_of
from .._tables import is_path
from .data import validation_of
from .network import Network
from .refusals import naming_arguments
from .request import Request, is_folder
from .settings import Callback, Device, charged, device_of, interval, shown
from .stored import Stored
from .trained import TrainedNetwork

_Layers = str | Iterable[Mapping[str, Any]]
_Arguments = ParamSpec("_Arguments")
_Trained = TypeVar("_Trained")

#: The most steps of a run.
_MOST_STEPS = 2**40


def _like(
    method: Callable[Concatenate[Network, _Arguments], _Trained],
) -> Callable[
    [Callable[..., _Trained]], Callable[Concatenate[Network | _Layers, _Arguments], _Trained]
]:
    """Gives a function the types of a method's arguments."""
    return lambda function: function


@_like(Network.fit)
def fit(network: Network | _Layers, X: Any, y: Any = None, **settings: Any) -> TrainedNetwork:
    """Trains a network by DP-SGD: :meth:`Network.fit` as a function, with the same arguments.

    >>> import numpy as np
    >>> from reticent import train
    >>> X = np.random.default_rng(3).uniform(-1, 1, (100, 3))
    >>> model = train.fit("logistic", X, X.sum(axis=1), bounds=(-1, 1), target_bounds=(-3, 3),
    ...                   epsilon=2, delta=1e-5, dataset_size=100, batch_size=50, steps=2)
    >>> bool((abs(model.predict(X)) <= 3).all())
    True
    """
    known = [name for name in inspect.signature(Network.fit).parameters if name not in ("self", "X", "y")]
    for name in settings:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            hint = f"did you mean {near[0]}?" if near else f"the arguments are {', '.join(known)}"
            raise refused(101, name, "unknown argument", hint)
    own = network if isinstance(network, Network) else Network(network)
    trained = trained_by(own, X, y, settings)
    warn(trained.warnings)
    return trained


def trained_by(network: Network, X: Any, y: Any, settings: Mapping[str, Any]) -> TrainedNetwork:
    """A network after its training; its warnings are not shown yet."""
    budget = charged(settings.get("budget"))
    progress = shown(settings.get("progress"), settings.get("callbacks"))
    out = settings.get("out")
    place = _folder.Folder(None if out is None else path("out", out, "give a new folder"))
    try:
        with _folder.private_folder() as private, naming_arguments(private):
            own = Request(network, X, y, settings, private)
            fields = {**own.fields, "out": place.path}
            if isinstance(settings.get("classes"), str):
                # Classes that are found in y are declared to be public: the certificate says so.
                fields["observed_labels"] = True
            if place.is_temporary and fields["checkpoint_every"] is None:
                # Nothing can go on from a folder that is removed, so only the end is stored.
                fields["checkpoint_every"] = str(_MOST_STEPS)
            with _interrupted(place, can_resume=fields["batching"] != "cyclic"):
                answer = _native.train(request(fields), own.data, own.validation, budget, progress)
        trained = TrainedNetwork._of(place, outcome_of(answer), fields["device"], fields["chunk"])
        count_fit(trained.certificate)
        return trained
    except BaseException:
        place.remove()
        raise


@contextmanager
def _interrupted(place: _folder.Folder, can_resume: bool = True) -> Iterator[None]:
    """Says what is left of a training that Ctrl-C stopped."""
    try:
        yield
    except KeyboardInterrupt:
        message = "the training was stopped before its first step: start it again"
        if place.is_temporary:
            message = "the training was stopped: nothing was stored; what it would have cost stays charged"
        elif os.path.isfile(os.path.join(place.path, "run.toml")):
            how = "go on with reticent.train.resume({!r}, X, y)"
            if not can_resume:
                how = "use its last checkpoint with reticent.train.resume({!r}, X, y, finish=True)"
            message = f"the training was stopped: {how.format(place.path)}"
        raise KeyboardInterrupt(message) from None


def resume(
    folder: str | os.PathLike[str],
    X: Any = None,
    y: Any = None,
    *,
    validation: Any = None,
    finish: bool = False,
    stopped_by: str | None = None,
    threads: int | None = None,
    device: Device = "cpu",
    chunk: int | None = None,
    checkpoint_every: int | str | None = None,
    budget: Budget | None = None,
    callbacks: Callback | Iterable[Callback] | None = None,
    progress: bool | None = None,
) -> TrainedNetwork:
    """Goes on with the run in a folder, after Ctrl-C or a crash, to the end that it was planned for.

    ``X`` and ``y`` are the data that it began with, and others are refused; leave them out if it began with a
    path. The certificate speaks for the whole run, however often it was resumed: its ε is never larger than
    the one that was asked for. A ``budget`` is charged for the whole run again, so give one that was not
    charged when the run began.

    ``finish=True`` ends the run as it was last stored. It costs the ε of the whole plan, unless
    ``stopped_by="time-limit"`` or ``"crash"`` declares that the moment did not depend on the results.

    ``device`` and ``chunk`` are those of :meth:`Network.fit`, and need not be those that the run began with.

    >>> import numpy as np, pathlib, tempfile
    >>> from reticent import train
    >>> X = np.random.default_rng(4).uniform(0, 1, (80, 2))
    >>> y = X[:, 0] > 0.5
    >>> with tempfile.TemporaryDirectory() as place:
    ...     def stop(metrics):
    ...         raise RuntimeError("enough")
    ...     run = pathlib.Path(place, "run")
    ...     try:
    ...         train.fit("logistic", X, y, bounds=(0, 1), classes=[False, True], epsilon=1, delta=1e-5,
    ...                   dataset_size=80, batch_size=40, epochs=2, out=run, callbacks=stop)
    ...     except RuntimeError as error:
    ...         print(error)
    ...     model = train.resume(run, X, y)
    ...     print(model.steps, model.epsilon <= 1)
    enough
    4 True
    """
    place = _folder.Folder(path("folder", folder, "give the folder of a run"))
    changes: dict[str, Any] = {
        "threads": whole("threads", threads),
        "device": device_of(device),
        "chunk": whole("chunk", chunk),
        "checkpoint_every": interval(checkpoint_every),
    }
    if stopped_by is not None:
        one_of("stopped_by", stopped_by, ("time-limit", "crash", "choice"))
    asked = {"folder": place.path, "finish": flag("finish", finish), "stopped_by": stopped_by}
    spent, display = charged(budget), shown(progress, callbacks)
    stored = Stored(place.path)
    train = public = None
    with naming_arguments(place.path):
        if X is None or (is_path(X) and is_folder(X)):
            changes["data"] = None if X is None else path("X", X)
            if validation is not None:
                remedy = "give a path, as the training data are files"
                changes["validation"] = path("validation", validation, remedy)
            if X is None and str(stored.of_run("data")).startswith("memory:"):
                raise refused(102, "X", "the run began with data in memory", "give the same X and y")
        elif stored.is_run:
            reader = stored.reader()
            train = reader.labelled(X, y)
            public = None if validation is None else validation_of(reader, validation, X, train)
        with _interrupted(place):
            answer = _native.resume(request({**asked, "changes": changes}), train, public, spent, display)
    trained = TrainedNetwork._of(place, outcome_of(answer), changes["device"], changes["chunk"])
    count_fit(trained.certificate)
    warn(trained.warnings)
    return trained
