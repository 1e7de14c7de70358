"""Networks that are not trained yet."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .. import _toml
from .._arguments import items, refused, text, whole
from .._budget import Budget
from .._core import brief, read_text, warn
from .layers import Features, Layer
from .settings import Callback, Device

if TYPE_CHECKING:
    from .trained import TrainedNetwork


class Network:
    """A network that is not trained yet: a list of layers, or the name of a preset.

    ``loss`` is ``"cross-entropy"`` or ``"squared"``; by default the one that fits the label. ``input`` is the
    shape of one example: ``(features,)``, ``(channels, height, width)`` or ``(length,)`` of tokens. ``fit``
    fills it in from what is public about the data: the schema or the bounds, the size of the images, the
    length of the texts.

    >>> from reticent.train import Linear, Network, Relu
    >>> network = Network([Linear(out=16), Relu(), Linear(out=3)], input=(4,))
    >>> network
    Network([Linear(out=16), Relu(), Linear(out=3)], input=(4,))
    >>> print(network.to_toml())
    input = [4]
    <BLANKLINE>
    [[layer]]
    kind = "linear"
    out = 16
    <BLANKLINE>
    [[layer]]
    kind = "relu"
    <BLANKLINE>
    [[layer]]
    kind = "linear"
    out = 3
    <BLANKLINE>

    ``features`` replace an image by fixed features, which no data decide:

    >>> from reticent.train import Flatten, ScatterNet
    >>> network = Network([Flatten(), Linear(out=10)], features=ScatterNet(groups=27), input=(1, 28, 28))
    >>> print(network.to_toml().split("[[layer]]")[0])
    input = [1, 28, 28]
    <BLANKLINE>
    [features]
    kind = "scatternet"
    groups = 27
    <BLANKLINE>
    <BLANKLINE>

    The presets are ``mlp``, ``cnn-mnist``, ``cnn-mnist-tanh``, ``cnn-cifar``, ``scatter-linear``,
    ``scatter-cnn``, ``bag-of-embeddings``, ``transformer-text``, ``lstm-text``, ``lstm-lm``, ``transformer-lm``
    and ``logistic``:

    >>> Network("cnn-mnist-tanh")
    Network('cnn-mnist-tanh')
    """

    __slots__ = ("_features", "_input", "_layers", "_loss", "_name", "_text")

    def __init__(
        self,
        layers: str | Iterable[Mapping[str, Any]],
        *,
        input: Iterable[int] | None = None,
        loss: str | None = None,
        features: Mapping[str, Any] | None = None,
    ) -> None:
        self._name: str | None = None
        self._text: str | None = None
        self._layers: tuple[Layer, ...] = ()
        self._input: tuple[int, ...] | None = None
        self._loss = text("loss", loss)
        self._features = _checked_features(features)
        if isinstance(layers, str):
            for field, value in (("input", input), ("loss", loss), ("features", features)):
                if value is not None:
                    raise refused(103, field, "a preset has its own", "leave it out")
            self._name = layers
            return
        own = items(layers)
        if own is None:
            remedy = "give a list of layers, or the name of a preset"
            raise refused(104, "layers", f"{brief(layers)} is not layers", remedy, layers)
        self._layers = tuple(_checked(layer, place) for place, layer in enumerate(own))
        if input is not None:
            sizes = items(input)
            self._input = tuple(whole("input", size) or 0 for size in ([input] if sizes is None else sizes))

    @classmethod
    def preset(cls, name: str) -> Network:
        """The network of that name, in the size that the data need.

        >>> from reticent.train import Network
        >>> Network.preset("mlp")
        Network('mlp')
        """
        return cls(name)

    @classmethod
    def from_toml(cls, path: str | os.PathLike[str]) -> Network:
        """Reads a ``model.toml``, such as the one in the folder of a run.

        >>> import pathlib, tempfile
        >>> from reticent.train import Linear, Network
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "model.toml")
        ...     _ = path.write_text(Network([Linear(out=2)], input=(4,)).to_toml())
        ...     Network.from_toml(path)
        Network([Linear(out=2)], input=(4,))
        """
        return cls._of(read_text(path))

    @classmethod
    def _of(cls, toml: str) -> Network:
        try:
            data = _toml.parsed(toml) or {}
        except ValueError:
            # The library says where the text is wrong.
            data = {}
        layers = data.get("layer", [])
        features = data.get("features")
        own = features if isinstance(features, dict) and isinstance(features.get("kind"), str) else None
        network = cls(layers if isinstance(layers, list) else [], loss=data.get("loss"), features=own)
        network._text = toml
        sizes = data.get("input") or _toml.stored(toml, "input")
        network._input = tuple(sizes) if isinstance(sizes, list) else None
        return network

    @property
    def layers(self) -> tuple[Layer, ...]:
        """The layers; empty for a preset."""
        return self._layers

    @property
    def input(self) -> tuple[int, ...] | None:
        """The shape of one example; ``None`` if it is left to the data."""
        return self._input

    @property
    def loss(self) -> str | None:
        """The loss; ``None`` if it is left to the label."""
        return self._loss

    @property
    def features(self) -> Features | None:
        """The fixed features of images that the first layer reads; ``None`` without any."""
        return self._features

    @property
    def name(self) -> str | None:
        """The name of a preset."""
        return self._name

    @property
    def _is_language_model(self) -> bool:
        """Whether it predicts next tokens, and has no label."""
        return self._name in ("lstm-lm", "transformer-lm") or self._loss == "next-token"

    def to_toml(self) -> str:
        """The text of a ``model.toml``, for ``reticent train --model``; the network has to have an ``input``.

        >>> from reticent.train import Linear, Network
        >>> Network([Linear(out=2)], input=(4,)).to_toml().splitlines()[0]
        'input = [4]'
        """
        if self._name is not None:
            problem = "a preset has the size that the data need"
            raise refused(103, "network", problem, "train it, and take that of `trained.network`", self._name)
        if self._input is None:
            problem = "the shape of one example is not known"
            raise refused(102, "input", problem, "give it, such as Network([…], input=(4,))")
        return self._described(self._input, self._loss, None)

    def _described(self, shape: tuple[int, ...], loss: str | None, tokens: int | None) -> str:
        """The text of a ``model.toml`` with what the data decide."""
        if self._text is not None:
            return self._text
        lines = _toml.lines({"input": shape, "loss": loss})
        if self._features is not None:
            lines += ["", "[features]", *_toml.lines(self._features)]
        for layer in self._layers:
            fields = dict(layer)
            if fields.get("kind") in ("embedding", "embedding-bag") and fields.get("vocabulary") is None:
                fields = {"kind": fields["kind"], **fields, "vocabulary": tokens}
            lines += ["", "[[layer]]", *_toml.lines(fields)]
        return "\n".join(lines) + "\n"

    def __repr__(self) -> str:
        if self._name is not None:
            return f"Network({self._name!r})"
        if self._text is not None and not self._layers:
            return "Network.from_toml(…)"
        known = {"input": self._input, "loss": self._loss, "features": self._features}
        parts = [repr(list(self._layers)), *(f"{key}={value!r}" for key, value in known.items() if value)]
        return f"Network({', '.join(parts)})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Network):
            return NotImplemented
        return all(getattr(self, slot) == getattr(other, slot) for slot in self.__slots__)

    __hash__ = None  # type: ignore[assignment]

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        epsilon: float | None = None,
        delta: float | None = None,
        noise_multiplier: float | None = None,
        non_private: bool = False,
        schema: Any = None,
        bounds: Any = None,
        classes: Any = None,
        target_bounds: tuple[float, float] | None = None,
        validation: Any = None,
        text_column: str | None = None,
        vocabulary: Any = None,
        tokens: str | None = None,
        label: str | None = None,
        length: int | None = None,
        shift: float | Sequence[float] | None = None,
        scale: float | Sequence[float] | None = None,
        channels: str | None = None,
        epochs: float | None = None,
        steps: int | None = None,
        batch_size: int | None = None,
        batch_growth: int | None = None,
        batching: str | None = None,
        bands: int | None = None,
        clip: float | None = None,
        clipping: str | None = None,
        kept_share: float | None = None,
        encoding_gain: float | None = None,
        noise: str | None = None,
        degrees_of_freedom: int | None = None,
        denoise: str | None = None,
        optimizer: str | None = None,
        learning_rate: float | None = None,
        momentum: float | None = None,
        weight_decay: float | None = None,
        label_smoothing: float | None = None,
        augment: str | None = None,
        adversarial: float | None = None,
        reference_share: float | None = None,
        reference_data: str | os.PathLike[str] | None = None,
        schedule: str | None = None,
        warmup: int | None = None,
        average: float | None = None,
        clip_quantile: float | None = None,
        held_out: float | None = None,
        split_key: str | None = None,
        patience: int | None = None,
        dataset_size: int | None = None,
        neighboring: str | None = None,
        examples_per_user: int | None = None,
        federated: Mapping[str, Any] | None = None,
        freeze: str | int | Iterable[str | int] | None = None,
        init: str | os.PathLike[str] | None = None,
        init_public: bool = False,
        init_map: Mapping[str, str] | None = None,
        init_partial: bool = False,
        vectors: str | os.PathLike[str] | None = None,
        pretrain: str | os.PathLike[str] | None = None,
        pretrain_epochs: float | None = None,
        threads: int | None = None,
        device: Device = "cpu",
        chunk: int | None = None,
        out: str | os.PathLike[str] | None = None,
        checkpoint_every: int | str | None = None,
        budget: Budget | None = None,
        callbacks: Callback | Iterable[Callback] | None = None,
        progress: bool | None = None,
    ) -> TrainedNetwork:
        """Trains the network by DP-SGD.

        **Data.** ``X`` and ``y`` are private. ``X`` is one of

        - a data frame, a mapping of columns or the path of a table, with ``schema=``: a path, TOML text, an
          object with ``.toml``, or a mapping of columns, in which a tuple declares bounds and a list declares
          categories, as in ``{"age": (17, 90), "sex": ["Male", "Female"]}``. The labels are a column of the
          table, or ``y``. If the schema has no label, give ``classes=`` or ``target_bounds=``, and ``label=``
          for the name of its column; if its label has a positive value alone, ``y`` needs ``classes=`` with
          both labels;
        - numbers: an array with two dimensions, or a table without a schema. ``bounds=`` is (low, high), or a
          pair for each column; and either ``classes=`` or, for a number as the label, ``target_bounds=(low,
          high)`` is given. Values are clamped to the bounds. ``schema=`` instead of ``bounds=`` declares the
          columns of an array as ``x0``, ``x1``, …;
        - images: an array of ``uint8`` of shape (n, height, width), (n, height, width, channels) or (n,
          channels, height, width), with labels from 0. ``classes=`` is their number, 10 by default, or their
          names. Pixels are normalized as ``(pixel / 255 - shift) / scale``, both 0.5 by default. A path of a
          folder of images works, too;
        - a list or a series of texts, or a table with ``text_column=``; with ``vocabulary=`` (a list or a
          file of tokens; 10,000 common English words by default) or ``tokens="characters"`` (printable ASCII),
          ``classes=`` and ``length=`` (tokens
          per text, 64 by default). A language model, ``"lstm-lm"``, ``"transformer-lm"`` or a network with
          ``loss="next-token"``, has no label: texts are cut into pieces of ``length`` tokens. All pieces of a
          row are one privacy unit, or all rows of a user if ``schema=`` names the unit's column; a step takes
          one piece of a row, or ``examples_per_user`` pieces of a row or user.

        ``classes`` are declared: a list, a number for 0, 1, …, or ``"public"`` to declare that the set of
        labels in ``y`` is public. Bounds, classes, schema, vocabulary and every number here are public:
        choosing them by looking at the data is not covered by the guarantee. ``validation`` is public, too:
        ``(X, y)``, or a table with labels; loss and accuracy on it are computed after every epoch.

        **Privacy.** Give ``epsilon`` and ``delta``, or ``noise_multiplier`` and ``delta``, or
        ``non_private=True``. Without ``dataset_size``, a public number of rows, 2 % of ε pay for a noisy
        count. ``budget`` is charged before the first example is read.

        **Training.** ``epochs`` (20 by default) or ``steps``, ``batch_size``, ``clip`` (the clipping norm, 1
        by default), ``clipping`` (``"flat"``, ``"per-layer"``, ``"automatic"``, ``"quantile"``, ``"encoded"``),
        ``clip_quantile`` (the share of gradients that quantile clipping leaves unclipped, 0.5 by default),
        ``optimizer`` (``"sgd"``, ``"adam"``, ``"adamw"``, ``"adam-bc"``, ``"adam-uncorrected"``), ``learning_rate``, ``momentum``, ``weight_decay``, ``schedule``
        (``"constant"``, ``"linear"``, ``"cosine"``, ``"exponential"``), ``warmup`` steps, ``average`` (the
        decay of a moving average of the weights), ``freeze`` (names of layers or parameters), ``threads``.

        **Start.** ``init`` is a safetensors file, or the folder of a run on other data; ``init_public=True``
        declares that its weights were made without the private data. ``init_map`` maps names of the file to
        names of this network, and ``init_partial=True`` leaves at random what the file does not have.
        ``vectors`` is a public file of word vectors (GloVe, word2vec) for the first layer. ``pretrain`` is a
        public table or folder of images to train on first, without protection, for ``pretrain_epochs``.

        **Noise.** ``clipping="encoded"`` keeps the largest numbers of each gradient (``kept_share`` of them, 1 by
        default), multiplies them by ``encoding_gain`` (4 by default) and cuts their sorted magnitudes to a
        public profile of norm ``clip``. With it, ``noise="student-t"`` adds Student-t noise with
        ``degrees_of_freedom`` (9 by default) instead of Gaussian noise. ``denoise`` (``"james-stein"``,
        ``"wiener"``, ``"weighted"``) shrinks noisy gradients before the optimizer; it costs no privacy.

        ``batch_growth`` doubles the expected batch size during a private run until it is that many times
        ``batch_size``, a power of two: 4 makes three stages, which see about the same number of rows. The noise of a
        step stays as it is, so its share of the mean gradient falls from stage to stage, and every stage is accounted
        for at its own sampling rate. ``model.batch_growth`` has the stages.

        ``batching="cyclic"`` trains without sampling, where batches cannot be drawn anew in every step: each row, or
        user, is put into one batch at random, once, the batches come round in every epoch, and the noise of a step is
        correlated with that of ``bands`` - 1 steps before (banded matrix factorization, DP-FTRL). ``bands=1`` is
        independent noise; by default it is the power of two up to 64 with the least noise in running sums of
        gradients. It needs the device ``"cpu"`` and add-remove, and such a run cannot be resumed: where sampling is
        possible, stay with the default, ``batching="poisson"``.

        ``label_smoothing`` is the share of every label that the loss spreads over all classes. It changes the
        loss of each example by itself, so it goes with privacy, too.

        ``augment`` adds copies of every image: ``"flip"`` its mirror image, ``"shift"`` the image moved by a
        pixel in four directions. The gradient of an image is the mean over its copies, taken before it is
        clipped, and the image stays the unit.

        ``"scatter-linear"`` and ``"scatter-cnn"`` have defaults of their own for batches, steps, clipping norm
        and learning rate, and normalize pixels with ``shift=0`` and ``scale=1``.
        ``held_out`` is the share of rows, or users, that are held out of the training by a hash of their
        content under ``split_key``. ``model.held_out`` has the accuracy on them, with noise; under
        add-remove it costs no extra ε. ``patience`` ends the training after so many scores without a better
        one: on ``validation`` after every epoch, or without it on the held-out rows, with noise, after every
        epoch or 19 times in a longer run (``model.evaluations``). The certificate is that of all planned steps
        and scores.

        **Adversarial regularization.** ``adversarial=3`` (λ), with ``non_private=True``, trains the network
        against an inference network that tells members from reference records by the network's outputs. It
        has **no guarantee**. Reference records are not trained on: ``reference_share`` of the data (half by
        default), or the file ``reference_data``.

        **Parties.** ``federated`` is a mapping with the keys of a ``parties.toml``: several parties that divide
        the data train together. :func:`federated` writes it.

        **Device.** ``device="cuda"`` trains on the first NVIDIA GPU, with the same guarantee. It needs the
        driver, libnvrtc and libcublas (``pip install nvidia-cuda-nvrtc nvidia-cublas``); a GPU that is
        missing is refused before anything is charged. ``chunk`` is the number of examples that are computed
        at once, by default as many as fit into memory. Neither is stored with the run.

        **Watching.** ``callbacks`` are called with the metrics of every epoch: a dictionary with ``step``,
        ``epoch``, ``epsilon``, ``validation_loss`` and ``validation_accuracy``; where ``patience`` looks at
        held-out rows, at each of their scores, with ``held_out_accuracy`` and ``held_out_doubt``. A callback that raises stops
        the run. ``progress`` is ``True``, ``False``, or ``None`` for a bar where somebody looks.

        ``out`` is a new folder for the run. A run in a folder can be continued after Ctrl-C (:func:`resume`).
        Without it the model lives in a temporary folder that is removed with the object, and a run that is
        stopped is lost; its cost stays charged.

        >>> import numpy as np
        >>> from reticent.train import Network
        >>> rng = np.random.default_rng(2)
        >>> images = rng.integers(0, 256, (64, 8, 8), dtype=np.uint8)
        >>> labels = (images.mean(axis=(1, 2)) > 127).astype(int)
        >>> seen = []
        >>> model = Network("logistic").fit(images, labels, classes=["dark", "bright"], epsilon=2, delta=1e-5,
        ...                                 dataset_size=64, batch_size=32, steps=4, callbacks=seen.append)
        >>> model.steps, seen[-1]["step"], seen[-1]["epsilon"] <= 2
        (4, 4, True)
        >>> set(model.predict(images[:4])) <= {"dark", "bright"}
        True
        """
        settings = {name: value for name, value in locals().items() if name not in ("self", "X", "y")}
        from .fitting import trained_by

        trained = trained_by(self, X, y, settings)
        warn(trained.warnings)
        return trained


def _checked_features(features: Any) -> Features | None:
    if features is None:
        return None
    if not isinstance(features, Mapping) or not isinstance(features.get("kind"), str):
        remedy = "give ScatterNet(), RandomConvolutions(…), or a dictionary with a kind"
        raise refused(104, "features", f"{brief(features)} is not a kind of features", remedy, features)
    return Features(features)


def _checked(layer: Any, place: int) -> Layer:
    if not isinstance(layer, Mapping) or not isinstance(layer.get("kind"), str):
        remedy = "give a layer such as Linear(out=2), or a dictionary with a kind"
        raise refused(104, "layers", f"item {place} is not a layer", remedy, layer)
    fields = dict(layer)
    if isinstance(fields.get("layer"), Sequence) and not isinstance(fields["layer"], str):
        fields["layer"] = [_checked(inner, at) for at, inner in enumerate(fields["layer"])]
    return Layer(fields)
