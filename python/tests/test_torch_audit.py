"""The whole loop on neighboring datasets: how well its gradients tell them apart is within what is claimed, and broken loops are caught.

One weight, a sampling rate of 3/8, and a learning rate of 0, so every step is a draw of the same mechanism. The event is that the noisy sum
exceeds a threshold that was fixed before. Frequencies of 2500 steps are taken with a slack (Hoeffding) that fails with probability 1e-7 a side.
"""

from __future__ import annotations

import math

import pytest

torch = pytest.importorskip("torch")

from reticent.accounting import Gaussian  # noqa: E402
from reticent.torch import PrivacyEngine  # noqa: E402
from reticent.torch.sampling import Batch  # noqa: E402
from torch import nn  # noqa: E402
from torch.utils.data import DataLoader, TensorDataset  # noqa: E402

STEPS = 2500
SLACK = math.sqrt(math.log(1e7) / (2 * STEPS))


class Divided:
    """Sixteen workers that each add noise for their share."""

    def __init__(self, steps):
        self.steps = steps

    def __getattr__(self, name):
        return getattr(self.steps, name)

    def add_noise(self, total, threads):
        kept = total.copy()
        total[:] = 0
        self.steps.add_noise(total, threads)
        total[:] = kept + total / 4


def sums(has_example: bool, twin: str | None = None) -> list[float]:
    """Noisy sums, in the direction of the example."""
    torch.manual_seed(0)
    x = torch.zeros(9, 1)
    x[8] = 1000.0
    x = x if has_example else x[:8]
    model = nn.Linear(1, 1, bias=False)
    nn.init.constant_(model.weight, -1.0)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
    engine = PrivacyEngine()
    _, _, loader = engine.make_private(
        module=model, optimizer=optimizer, data_loader=DataLoader(TensorDataset(x, torch.zeros(len(x), 1)), batch_size=3),
        noise_multiplier=1.0, max_grad_norm=1.0, dataset_size=8,
    )  # fmt: skip
    run = engine.own_run
    if twin == "noise per worker":
        run.steps = Divided(run.steps)
    if twin == "clip after the average":

        def after(found, batch):
            ((place, term),) = found
            mean = term.full().sum(0).reshape(-1)
            run.sum.total()
            run.sum.view(place)[0].add_(3 * mean / max(1.0, float(mean.norm())))

        run.add_clipped = after
    found: list[float] = []
    while len(found) < STEPS:
        for values, target in loader:
            if len(found) == STEPS:
                break
            if twin == "shuffled":
                # A shuffled epoch has every example in one of its batches; the attacker looks at that batch.
                values, target = x[-3:], torch.zeros(3, 1)
                run.announce(Batch(3, None, 3, False, True, True))
            nn.functional.mse_loss(model(values), target).backward()
            optimizer.step()
            found.append(-3 * float(model.weight.grad))
    return found


@pytest.fixture(scope="module")
def without() -> list[float]:
    return sums(False)


def frequency(found: list[float], threshold: float) -> float:
    return sum(own > threshold for own in found) / STEPS


def excess(with_example: float, without: float, epsilon: float) -> float:
    """The hockey-stick divergence that these frequencies prove, from both directions."""
    one = with_example - SLACK - math.exp(epsilon) * (without + SLACK)
    other = (1 - without) - SLACK - math.exp(epsilon) * (1 - with_example + SLACK)
    return max(one, other)


def claimed(epsilon: float) -> float:
    return Gaussian(1.0).poisson(3 / 8).delta(epsilon=epsilon).upper


def test_the_loop_is_as_private_as_it_claims(without):
    found, base = frequency(sums(True), 0.5), frequency(without, 0.5)
    assert all(excess(found, base, epsilon) <= claimed(epsilon) for epsilon in (0.0, 0.25, 0.5, 1.0))
    # And it is not far from the claim: 3/8 · TV of two Gaussians, 0.1436.
    assert abs((found - base) - 0.1436) < 2 * SLACK


@pytest.mark.parametrize(("twin", "threshold"), [("noise per worker", 0.5), ("clip after the average", 1.5), ("shuffled", 0.5)])
def test_broken_twins_are_caught(twin, threshold, without):
    base = sums(False, twin) if twin == "noise per worker" else without
    found = frequency(sums(True, twin), threshold)
    assert excess(found, frequency(base, threshold), 0.0) > claimed(0.0)
