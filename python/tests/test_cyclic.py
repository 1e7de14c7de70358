"""Training without sampling: cyclic batches with correlated noise."""

from __future__ import annotations

import pytest

from networks import ARRAY, NOISY, PLAIN, TWO, X, Y, refused
from reticent import train
from reticent.errors import ReticentError

pytestmark = pytest.mark.filterwarnings("ignore::reticent.PrivacyWarning")

CYCLIC = {**NOISY, "batch_size": 10, "steps": 12, "batching": "cyclic"}


def test_the_run_is_one_gaussian_event():
    model = train.fit(TWO, X, Y, **ARRAY, **CYCLIC, bands=3)
    assert model.cyclic == {"bands": 3, "per_epoch": 6} and model.epochs == 2
    (event,) = model.certificate.events
    assert set(event) == {"gaussian"} and model.certificate.verify()
    assert any("3 bands" in fact for fact in model.certificate.public)
    assert train.fit(TWO, X, Y, **ARRAY, **CYCLIC).cyclic["bands"] in (1, 2, 4)


@pytest.mark.parametrize(
    ("settings", "field"),
    [
        ({**PLAIN, "batching": "cyclic"}, "batching"),
        ({**CYCLIC, "neighboring": "replace-one", "dataset_size": None}, "batching"),
        ({**CYCLIC, "device": "cuda"}, "batching"),
        ({**CYCLIC, "clipping": "quantile"}, "batching"),
        ({**CYCLIC, "bands": 7}, "bands"),
        ({**NOISY, "bands": 2}, "bands"),
        ({**NOISY, "batching": "round"}, "batching"),
    ],
)
def test_what_does_not_go_with_it_is_refused(settings, field):
    refused(lambda: train.fit(TWO, X, Y, **ARRAY, **settings), ReticentError, field)


def test_such_a_run_is_not_resumed(tmp_path):
    train.fit(TWO, X, Y, **ARRAY, **CYCLIC, out=tmp_path / "run")
    with pytest.raises(ReticentError, match="cannot go on"):
        train.resume(tmp_path / "run", X, Y)
