"""Trained networks."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from .. import _native
from .._arguments import naming, path as path_of, real, refused, text, whole
from .._core import Certificate, Result, certificate, load as outcome_of, number, request, warn
from .._folder import Folder, read_files, save_files, write_files
from .._refusals import one_of
from .._tables import is_path
from .data import Reader
from .labels import values_of
from .network import Network
from .refusals import naming_arguments
from .settings import Device, device_of, shown
from .stored import Stored

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Evaluation(Result):
    """Scores of a model on labelled data. They are exact, so the rows are not protected.

    For classes: ``accuracy``, ``auc`` (for two classes), ``majority`` (the share of the largest class) and
    ``classes``. For numbers: ``rmse``, ``mae`` and ``r2``. For language models: ``perplexity``, ``loss``,
    ``accuracy`` and ``tokens``. For all: ``rows``.

    >>> from reticent.train import Evaluation
    >>> Evaluation({"accuracy": 0.75, "rows": 4})
    Evaluation
      accuracy  0.75
      rows      4
    """

    _title: ClassVar[str] = "Evaluation"


class TrainedNetwork(Result):
    """A trained network, made by :meth:`Network.fit`, :func:`resume` or :func:`load`.

    Besides the methods it has the fields of the command's outcome: ``steps``, ``epochs``, ``batch_size``,
    ``noise_multiplier``, ``accuracy`` and ``loss`` on the validation data, ``device`` (that computed the
    training), ``weights`` (how many), ``warnings``.

    >>> import numpy as np
    >>> from reticent import train
    >>> X = np.random.default_rng(6).uniform(0, 1, (50, 2))
    >>> y = np.where(X[:, 0] > 0.5, "high", "low")
    >>> model = train.fit("logistic", X, y, bounds=(0, 1), classes=["low", "high"], epsilon=1, delta=1e-5,
    ...                   dataset_size=50, batch_size=25, steps=2)
    >>> model.certificate.verify(), model.delta
    (True, 1e-05)
    >>> model.classes.tolist()
    ['low', 'high']
    >>> print(model)
    Trained network
      network     logistic, 10 weights
      guarantee   (ε ≤ ..., δ ≤ 1e-5) for each row, add-remove
      trained     2 steps, 1 epochs
      classes     low, high
      validation  none
    """

    _title: ClassVar[str] = "Trained network"
    _place: Folder
    #: What computes the outputs unless a call says otherwise.
    _device: str
    _chunk: int | None

    @classmethod
    def _of(
        cls, place: Folder, outcome: Mapping[str, Any], device: str = "cpu", chunk: int | None = None
    ) -> TrainedNetwork:
        own = {key: value for key, value in outcome.items() if key != "out"}
        if str(own.get("model")).endswith(".toml"):
            # The path of a request's file says nothing afterwards.
            own["model"] = os.path.basename(own["model"])
        trained = cls(own)
        trained._compute(place, device, chunk)
        return trained

    def _compute(self, place: Folder, device: str, chunk: int | None) -> None:
        for name, value in (("_place", place), ("_device", device), ("_chunk", chunk)):
            object.__setattr__(self, name, value)

    @property
    def _stored(self) -> Stored:
        return Stored(self._place.path)

    @property
    def folder(self) -> Path:
        """The folder of the model; it may be a temporary one."""
        return Path(self._place.path)

    @property
    def certificate(self) -> Certificate | None:
        """The privacy guarantee; ``None`` for a training without privacy."""
        return certificate(self._data.get("certificate"))

    @property
    def epsilon(self) -> float | None:
        """The ε of the certificate, an upper bound; ``None`` without privacy."""
        own = self.certificate
        return None if own is None else float(own._data["epsilon"])

    @property
    def delta(self) -> float | None:
        """The δ of the certificate; ``None`` without privacy."""
        own = self.certificate
        return None if own is None else float(own._data["delta"])

    @property
    def classes(self) -> NDArray[Any] | None:
        """The classes, in the order of the outputs; ``None`` if the label is a number."""
        texts = self._stored.classes()
        return None if texts is None else values_of(texts)

    @property
    def network(self) -> Network:
        """The network that was trained, with all its sizes."""
        return Network.from_toml(self.folder / "model.toml")

    @property
    def metrics(self) -> dict[str, Any]:
        """The last metrics, as callbacks get them."""
        return (self.history or [{}])[-1]

    @property
    def history(self) -> list[dict[str, Any]]:
        """The metrics of every epoch, as callbacks get them."""
        return self._stored.metrics()

    def predict(
        self,
        X: Any,
        *,
        channels: str | None = None,
        part: str | None = None,
        device: Device | None = None,
        chunk: int | None = None,
        progress: bool | None = None,
    ) -> NDArray[Any]:
        """Predicts the label of each raw row, image or text.

        Classes that are all integers, or all truth values, come as such, others as texts; numbers come as
        floats. ``part`` is ``"train"`` or ``"test"`` for the path of a folder of images. ``channels``,
        ``device`` and ``chunk`` are as in :meth:`Network.fit`; the last two are by default those that the
        network was trained or loaded with.

        >>> import numpy as np
        >>> from reticent import train
        >>> texts, kinds = ["see you at home", "win a free prize"] * 20, ["ham", "spam"] * 20
        >>> model = train.fit("logistic", texts, kinds, vocabulary=["see", "you", "home", "win"], length=4,
        ...                   classes=["ham", "spam"], non_private=True, batch_size=20, epochs=2)
        >>> model.predict(["free free free"]).shape
        (1,)
        """
        labels, classes, scores = self._predicted(X, channels, part, (device, chunk), progress)
        if not classes:
            return scores
        places = {name: place for place, name in enumerate(classes)}
        return values_of(classes)[np.array([places[label] for label in labels], dtype=np.int64)]

    def predict_proba(
        self,
        X: Any,
        *,
        channels: str | None = None,
        part: str | None = None,
        device: Device | None = None,
        chunk: int | None = None,
        progress: bool | None = None,
    ) -> NDArray[np.float64]:
        """The probability of each class, in the order of ``classes``: the softmax of the outputs.

        The arguments are those of :meth:`predict`.

        >>> import numpy as np
        >>> from reticent import train
        >>> X = np.random.default_rng(7).uniform(0, 1, (30, 2))
        >>> model = train.fit("logistic", X, X[:, 0] > 0.5, bounds=(0, 1), classes=[False, True],
        ...                   epsilon=1, delta=1e-5, dataset_size=30, batch_size=15, steps=1)
        >>> probabilities = model.predict_proba(X)
        >>> probabilities.shape, bool(np.allclose(probabilities.sum(axis=1), 1))
        ((30, 2), True)
        """
        if self.classes is None:
            problem = "the network predicts numbers, which have no probabilities"
            raise refused(504, "predict_proba", problem, "call predict")
        _, classes, scores = self._predicted(X, channels, part, (device, chunk), progress)
        logits = scores.reshape(-1, len(classes))
        powers: NDArray[np.float64] = np.exp(logits - logits.max(axis=1, keepdims=True))
        shares: NDArray[np.float64] = powers / powers.sum(axis=1, keepdims=True)
        return shares

    def _predicted(
        self,
        X: Any,
        channels: str | None,
        part: str | None,
        computing: tuple[Any, Any],
        progress: bool | None,
    ) -> tuple[list[str], list[str], NDArray[np.float64]]:
        asked = self._request(X, part, computing)
        given = None if is_path(X) else self._reader(channels).unlabelled(X)
        with naming_arguments(self._place.path):
            labels, classes, scores, _ = _native.predict(asked, given, None, shown(progress))
        if not np.isfinite(scores).all():
            problem = "the scores of the network are not finite, so its training has diverged"
            raise refused(504, "X", problem, "train again with a smaller learning_rate")
        return labels, classes, scores

    def _request(self, X: Any, part: str | None, computing: tuple[Any, Any]) -> str:
        """The request about these data; ``computing`` are the device and the chunk of a call."""
        if part is not None:
            one_of("part", part, ("train", "test"))
        device, chunk = computing
        data = path_of("X", X) if is_path(X) else ""
        asked = {"model": self._place.path, "data": data, "part": part}
        asked["device"] = self._device if device is None else device_of(device)
        return request({**asked, "chunk": self._chunk if chunk is None else whole("chunk", chunk)})

    def _reader(self, channels: str | None) -> Reader:
        reader = self._stored.reader()
        if channels is not None and reader.kind != "images":
            raise refused(103, "channels", "only for images", "leave it out", channels)
        return replace(reader, channels=channels)

    def evaluate(
        self,
        X: Any,
        y: Any = None,
        *,
        channels: str | None = None,
        part: str | None = None,
        device: Device | None = None,
        chunk: int | None = None,
        progress: bool | None = None,
    ) -> Evaluation:
        """Scores on labelled data. They are exact, so these data are not protected: give public ones.

        The arguments are those of :meth:`predict`.

        >>> import numpy as np
        >>> from reticent import train
        >>> X = np.random.default_rng(8).uniform(0, 1, (30, 2))
        >>> y = X[:, 0] > 0.5
        >>> model = train.fit("logistic", X, y, bounds=(0, 1), classes=[False, True],
        ...                   epsilon=1, delta=1e-5, dataset_size=30, batch_size=15, steps=1)
        >>> scores = model.evaluate(X, y)
        >>> scores.rows, 0 <= scores.accuracy <= 1
        (30, True)
        """
        if is_path(X) and y is not None:
            raise refused(103, "y", "a file holds its labels", "leave it out")
        asked = self._request(X, part, (device, chunk))
        given = None if is_path(X) else self._reader(channels).labelled(X, y)
        with naming_arguments(self._place.path):
            outcome = outcome_of(_native.evaluate(asked, given, shown(progress)))
        warn(outcome.get("warnings", []))
        return Evaluation(outcome)

    def sample(
        self,
        prompt: str | None = None,
        *,
        tokens: int | None = None,
        temperature: float | None = None,
        top_k: int | None = None,
        count: int = 1,
        device: Device | None = None,
        chunk: int | None = None,
        progress: bool | None = None,
    ) -> list[str]:
        """Draws ``count`` texts from a language model, each beginning with ``prompt``.

        A text ends where the model ends it, or after ``tokens`` tokens (200 by default). Scores are divided by
        ``temperature`` (1 by default; 0 takes the likeliest token every time), and only the ``top_k`` likeliest
        tokens are drawn from. The texts use only the weights, so they cost no further privacy; a model that was
        trained without privacy may repeat its training texts.

        >>> from reticent import train
        >>> model = train.fit("lstm-lm", ["to be", "or not to be"] * 4, tokens="characters", length=8,
        ...                   non_private=True, steps=2, batch_size=4)
        >>> [text[:3] for text in model.sample("to ", tokens=5, count=2)]
        ['to ', 'to ']
        """
        asked = {
            "model": self._place.path,
            "prompt": text("prompt", prompt),
            "tokens": whole("tokens", tokens),
            "temperature": real("temperature", temperature),
            "top_k": whole("top_k", top_k),
            "count": whole("count", count),
            "device": self._device if device is None else device_of(device),
            "chunk": self._chunk if chunk is None else whole("chunk", chunk),
        }
        with naming_arguments(self._place.path):
            outcome = outcome_of(_native.sample(request(asked), None, shown(progress)))
        warn(outcome.get("warnings", []))
        return [drawn["text"] for drawn in outcome["texts"]]

    def state_dict(self) -> dict[str, NDArray[np.float32]]:
        """The weights by name, as PyTorch names them for the same layers in a ``torch.nn.Sequential``.

        A module with the same layers takes them as they are::

            module = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))
            module.load_state_dict({name: torch.from_numpy(array) for name, array in
            model.state_dict().items()})

        The features of a table or of an array are those of its schema: for a column with bounds the value,
        from 0 to 1, and whether it is missing.

        >>> import numpy as np
        >>> from reticent import train
        >>> X = np.random.default_rng(9).uniform(0, 1, (30, 2))
        >>> model = train.fit([train.Linear(out=2)], X, X[:, 0] > 0.5, bounds=(0, 1), classes=[False, True],
        ...                   epsilon=1, delta=1e-5, dataset_size=30, batch_size=15, steps=1)
        >>> {name: array.shape for name, array in model.state_dict().items()}
        {'0.bias': (2,), '0.weight': (2, 4)}
        """
        return self._stored.weights()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Copies the model to a new folder, to :func:`load` it or to use it with the command ``reticent``.

        What a model does not need is left out: the state of the training, and the fingerprint of the training
        data, which is private. The folder can be shared under the guarantee of the certificate.

        >>> import numpy as np, os, tempfile
        >>> from reticent import train
        >>> X = np.random.default_rng(10).uniform(0, 1, (30, 2))
        >>> model = train.fit("logistic", X, X[:, 0] > 0.5, bounds=(0, 1), classes=[False, True],
        ...                   epsilon=1, delta=1e-5, dataset_size=30, batch_size=15, steps=1)
        >>> with tempfile.TemporaryDirectory() as place:
        ...     model.save(os.path.join(place, "model"))
        ...     "certificate.json" in os.listdir(os.path.join(place, "model"))
        True
        """
        save_files(path, read_files(self.folder))

    def __getstate__(self) -> dict[str, Any]:
        return {"outcome": self._data, "files": read_files(self.folder)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        place = Folder()
        write_files(place.path, state["files"])
        object.__setattr__(self, "_data", state["outcome"])
        # Another machine need not have the device.
        self._compute(place, "cpu", None)

    def _rows(self) -> list[tuple[str, str]]:
        own, data, classes = self.certificate, self._data, self._stored.classes()
        label = ("label", "a number")
        if classes is not None:
            label = ("classes", ", ".join(classes[:8]) + (", …" if len(classes) > 8 else ""))
        scores = {name: data[name] for name in ("accuracy", "loss") if data.get(name) is not None}
        return [
            ("network", f"{data.get('model') or 'network'}, {data.get('weights')} weights"),
            ("guarantee", "none: trained without privacy" if own is None else str(own)),
            ("trained", f"{data.get('steps')} steps, {number(data.get('epochs'))} epochs"),
            label,
            ("validation", ", ".join(f"{name} {number(own)}" for name, own in scores.items()) or "none"),
        ]


def load(
    path: str | os.PathLike[str], *, device: Device = "cpu", chunk: int | None = None
) -> TrainedNetwork:
    """The trained network of a folder: of ``out=``, of :meth:`TrainedNetwork.save`, or of ``reticent train``.

    ``device`` computes its outputs, ``chunk`` examples at once, as in :meth:`Network.fit`. It need not be the
    one that the network was trained on.

    >>> import numpy as np, pathlib, tempfile
    >>> from reticent import train
    >>> X = np.random.default_rng(5).uniform(0, 1, (50, 2))
    >>> model = train.fit("logistic", X, X[:, 0] > 0.5, bounds=(0, 1), classes=[False, True],
    ...                   epsilon=1, delta=1e-5, dataset_size=50, batch_size=25, steps=2)
    >>> with tempfile.TemporaryDirectory() as place:
    ...     model.save(pathlib.Path(place, "model"))
    ...     again = train.load(pathlib.Path(place, "model"))
    ...     print(bool((again.predict(X) == model.predict(X)).all()), again.epsilon == model.epsilon)
    True True
    """
    place = path_of("path", path, "give the folder of a run")
    own_device, own_chunk = device_of(device), whole("chunk", chunk)
    with naming("path"):
        own = _native.read_certificate(place)
    if not os.path.isfile(os.path.join(place, "model.toml")):
        problem = f"{place} holds a linear model"
        raise refused(501, "path", problem, "give the folder of a network", place)
    outcome = Stored(place).outcome(None if own is None else outcome_of(own))
    return TrainedNetwork._of(Folder(place), outcome, own_device, own_chunk)
