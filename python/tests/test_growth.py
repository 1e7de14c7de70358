"""Batches that grow during a private run."""

from __future__ import annotations

import pytest

from networks import ARRAY, NOISY, PLAIN, TWO, X, Y, refused
from reticent import train
from reticent.errors import ReticentError

pytestmark = pytest.mark.filterwarnings("ignore::reticent.PrivacyWarning")

GROWING = {**NOISY, "batch_size": 10, "steps": 7, "batch_growth": 4}


def test_every_stage_has_an_event_of_its_own():
    model = train.fit(TWO, X, Y, **ARRAY, **GROWING)
    stages = [{"batch_size": 10, "steps": 4}, {"batch_size": 20, "steps": 2}, {"batch_size": 40, "steps": 1}]
    assert model.batch_growth == {"factor": 4, "stages": stages}
    assert model.epochs == pytest.approx(2) and model.batch_size == 10
    repeated = [event["repeated"] for event in model.certificate.events]
    assert [own["count"] for own in repeated] == [4, 2, 1]
    rates = [own["event"]["poisson_sampled"]["rate"] for own in repeated]
    assert rates == pytest.approx([1 / 6, 1 / 3, 2 / 3]) and model.certificate.verify()
    assert any("10 in 4 steps, then 20 in 2 steps" in fact for fact in model.certificate.public)


def test_it_costs_less_than_the_largest_batch_in_every_step():
    def epsilon(**sizes):
        return train.fit(TWO, X, Y, **ARRAY, **{**GROWING, "batch_growth": None, **sizes}).epsilon

    assert epsilon() < epsilon(batch_growth=4) < epsilon(batch_size=40)


@pytest.mark.parametrize(
    ("settings", "field"),
    [
        ({**PLAIN, "batch_growth": 2}, "batch_growth"),
        ({**GROWING, "batch_growth": 3}, "batch_growth"),
        ({**GROWING, "batch_growth": 8}, "batch_growth"),
        ({**GROWING, "steps": 3}, "batch_growth"),
        ({**GROWING, "batching": "cyclic"}, "batch_growth"),
        ({**GROWING, "clipping": "quantile"}, "batch_growth"),
    ],
)
def test_what_does_not_go_with_it_is_refused(settings, field):
    refused(lambda: train.fit(TWO, X, Y, **ARRAY, **settings), ReticentError, field)


def test_a_run_keeps_its_growth(tmp_path):
    train.fit(TWO, X, Y, **ARRAY, **GROWING, out=tmp_path / "run")
    again = train.resume(tmp_path / "run", X, Y)
    assert again.batch_growth["factor"] == 4
