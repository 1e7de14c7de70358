"""Fixed features of images, copies of images, and the defaults that use them."""

from __future__ import annotations

import numpy as np
import pytest

from reticent import train
from reticent.errors import RequestError
from reticent.train import Flatten, Linear, Network, RandomConvolutions, ScatterNet

RNG = np.random.default_rng(5)
LABELS = np.arange(60) % 2
IMAGES = (RNG.integers(0, 60, (60, 8, 8)) + 150 * LABELS[:, None, None] * (np.arange(8) > 3)).astype(np.uint8)
SHORT = {"classes": 2, "epsilon": 8, "delta": 1e-4, "dataset_size": 60, "batch_size": 30, "steps": 3}


@pytest.mark.parametrize("features", [ScatterNet(groups=27), RandomConvolutions(filters=8, size=3, pool=3)])
def test_a_network_on_features_is_stored_and_read_back(features, tmp_path):
    network = Network([Flatten(), Linear(out=2)], features=features)
    model = train.fit(network, IMAGES, LABELS, **SHORT, out=tmp_path / "run")
    assert any(features["kind"] in fact for fact in model.certificate.public)
    again = train.load(tmp_path / "run")
    # The stored network has its defaults, too.
    assert again.network.features is not None and features.items() <= again.network.features.items()
    assert np.array_equal(model.predict_proba(IMAGES), again.predict_proba(IMAGES))


def test_a_preset_on_features_has_defaults_that_arguments_replace():
    model = train.fit("scatter-linear", IMAGES, LABELS, **SHORT, augment="flip")
    text = (model.folder / "run.toml").read_text()
    for line in ("clip = 0.1", "learning-rate = 8.0", 'augment = "flip"', "shift = 0.0"):
        assert line in text
    assert model.certificate.unit == "image"


@pytest.mark.parametrize("features", ["scatternet", {"scales": 2}, 3])
def test_features_of_another_kind_are_refused(features):
    with pytest.raises(RequestError, match="features"):
        Network([Linear(out=2)], features=features)


def test_a_preset_has_its_own_features():
    with pytest.raises(RequestError, match="features"):
        Network("mlp", features=ScatterNet())
    assert Network([Linear(out=2)], features=ScatterNet(2, 4)) != Network([Linear(out=2)])
    assert "features=ScatterNet(scales=2, orientations=4)" in repr(Network([Linear(out=2)], features=ScatterNet(2, 4)))
