"""Loops written for Opacus, with the import changed: every name that they use is here, or is refused by name."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from reticent.errors import DataError, ReticentError, RequestError  # noqa: E402
from reticent.torch import PrivacyEngine  # noqa: E402
from reticent.torch.accountants.utils import get_noise_multiplier  # noqa: E402
from reticent.torch.data_loader import DPDataLoader  # noqa: E402
from reticent.torch.distributed import DifferentiallyPrivateDistributedDataParallel  # noqa: E402
from reticent.torch.grad_sample import register_grad_sampler  # noqa: E402
from reticent.torch.layers import DPGRU, DPLSTM, DPRNN, DPMultiheadAttention  # noqa: E402
from reticent.torch.sampling import Batch  # noqa: E402
from reticent.torch.utils.batch_memory_manager import BatchMemoryManager  # noqa: E402
from reticent.torch.validators import ModuleValidator  # noqa: E402
from torch import nn  # noqa: E402
from torch.utils.data import DataLoader, TensorDataset  # noqa: E402


def images():
    torch.manual_seed(2)
    x = torch.randn(48, 3, 8, 8)
    return DataLoader(TensorDataset(x, (x.mean((1, 2, 3)) > 0).long()), batch_size=12, shuffle=True)


class Block(nn.Module):
    """A block with a shortcut and batch norms."""

    def __init__(self, width):
        super().__init__()
        self.one, self.two = nn.Conv2d(width, width, 3, padding=1), nn.Conv2d(width, width, 3, padding=1)
        self.norm, self.other = nn.BatchNorm2d(width), nn.BatchNorm2d(width)
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x):
        return self.relu(self.other(self.two(self.relu(self.norm(self.one(x))))) + x)


def network():
    return nn.Sequential(nn.Conv2d(3, 8, 3), Block(8), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 2))


def test_an_image_classifier(tmp_path):
    model, loader = network(), images()
    assert len(ModuleValidator.validate(model, strict=False)) == 2 and not ModuleValidator.is_valid(model)
    with pytest.raises(DataError, match="BatchNorm2d"):
        ModuleValidator.validate(model, strict=True)
    fixed = ModuleValidator.fix(model)
    assert ModuleValidator.is_valid(fixed) and not ModuleValidator.is_valid(model)
    assert ModuleValidator.is_valid(ModuleValidator.fix_and_validate(model))
    optimizer = torch.optim.RMSprop(fixed.parameters(), lr=1e-3)
    engine = PrivacyEngine(accountant="rdp", secure_mode=False)
    assert engine.is_compatible(module=fixed, optimizer=optimizer, data_loader=loader)
    assert not engine.is_compatible(module=model, optimizer=optimizer, data_loader=loader)
    with pytest.raises(DataError):
        engine.validate(module=model, optimizer=optimizer, data_loader=loader)
    assert ModuleValidator.is_valid(engine.get_compatible_module(model))
    names = list(fixed.state_dict())
    fixed, optimizer, loader = engine.make_private_with_epsilon(
        module=fixed, optimizer=optimizer, data_loader=loader, epochs=2, target_epsilon=20, target_delta=1e-3, max_grad_norm=1.2
    )
    assert isinstance(loader, DPDataLoader) and loader.sample_rate == 0.25 and len(loader) == 4
    assert optimizer.noise_multiplier == engine.noise_multiplier and optimizer.max_grad_norm == 1.2
    assert optimizer.expected_batch_size == 12
    assert fixed._module is fixed and list(fixed._module.state_dict()) == names
    criterion = nn.CrossEntropyLoss()
    for _ in range(2):
        fixed.train()
        with BatchMemoryManager(data_loader=loader, max_physical_batch_size=5, optimizer=optimizer) as safe:
            for x, y in safe:
                optimizer.zero_grad()
                output = fixed(x)
                loss = criterion(output, y)
                assert float(loss.item()) >= 0 and output.detach().cpu().numpy().argmax(1).shape == (len(x),)
                loss.backward()
                optimizer.step()
    assert engine.accountant.get_epsilon(delta=1e-3) == engine.get_epsilon(1e-3) <= 20
    assert engine.accountant.history == [(engine.noise_multiplier, 0.25, 8)] and len(engine.accountant) == 8
    assert engine.accountant.mechanism() == "prv"
    engine.save_checkpoint(path=tmp_path / "kept.pt", module=fixed, optimizer=optimizer, checkpoint_dict={"epoch": 2})
    assert engine.load_checkpoint(path=tmp_path / "kept.pt", module=fixed, optimizer=optimizer)["epoch"] == 2


@pytest.mark.parametrize("kind", [DPLSTM, DPGRU, DPRNN])
def test_names_by_letters(kind):
    class Letters(nn.Module):
        def __init__(self):
            super().__init__()
            self.table, self.memory, self.out = nn.Embedding(30, 6), kind(6, 5, num_layers=1, batch_first=True), nn.Linear(5, 3)

        def forward(self, x, hidden=None):
            values, _ = self.memory(self.table(x), hidden)
            return self.out(values[:, -1, :])

    def padded(rows):
        x = nn.utils.rnn.pad_sequence([row[0] for row in rows], batch_first=True)
        return x, torch.stack([row[1] for row in rows])

    torch.manual_seed(1)
    rows = [(torch.randint(1, 30, (3 + place % 4,)), torch.tensor(place % 3)) for place in range(30)]
    model = Letters()
    engine = PrivacyEngine(secure_mode=False)
    model, optimizer, loader = engine.make_private(
        module=model, optimizer=torch.optim.SGD(model.parameters(), lr=2.0),
        data_loader=DataLoader(rows, batch_size=10, num_workers=1, collate_fn=padded), noise_multiplier=1.0, max_grad_norm=1.5,
        poisson_sampling=True, wrap_model=True,
    )  # fmt: skip
    for x, y in loader:
        loss = nn.CrossEntropyLoss()(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    assert engine.steps == 3


def test_ghost_clipping_has_the_loop_of_a_criterion():
    model = nn.Sequential(nn.Flatten(), nn.Linear(192, 2))
    engine = PrivacyEngine()
    model, optimizer, criterion, loader = engine.make_private(
        module=model, optimizer=torch.optim.SGD(model.parameters(), lr=0.1), criterion=nn.CrossEntropyLoss(reduction="mean"),
        data_loader=images(), noise_multiplier=1.0, max_grad_norm=1.0, grad_sample_mode="ghost",
    )  # fmt: skip
    for x, y in loader:
        optimizer.zero_grad()
        criterion(model(x), y).backward()
        optimizer.step()
    assert engine.steps == 4


def test_samplers_of_batches_are_refused_by_name():
    from reticent.torch.utils.uniform_sampler import UniformWithReplacementSampler

    with pytest.raises(ReticentError, match="make_private samples by itself"):
        UniformWithReplacementSampler(num_samples=10, sample_rate=0.1)


def test_calibration_is_within_its_budget():
    from reticent.accounting import Gaussian

    noise = get_noise_multiplier(target_epsilon=2.0, target_delta=1e-5, sample_rate=0.01, epochs=10)
    assert (Gaussian(noise).poisson(0.01) * 1000).epsilon(delta=1e-5).upper <= 2.0
    with pytest.raises(RequestError):
        get_noise_multiplier(target_epsilon=2.0, target_delta=1e-5, sample_rate=0.01)


def test_what_belongs_to_the_plan_does_not_change():
    model = nn.Sequential(nn.Flatten(), nn.Linear(192, 2))
    engine = PrivacyEngine()
    model, optimizer, loader = engine.make_private(
        module=model, optimizer=torch.optim.SGD(model.parameters(), lr=0.1), data_loader=images(), noise_multiplier=1.0,
        max_grad_norm=1.0,
    )  # fmt: skip
    x, y = next(iter(loader))
    nn.functional.cross_entropy(model(x), y).backward()
    for name in ("noise_multiplier", "max_grad_norm", "expected_batch_size"):
        kept = getattr(optimizer, name)
        setattr(optimizer, name, kept / 2)
        with pytest.raises(RequestError, match=name):
            optimizer.step()
        setattr(optimizer, name, kept)
    optimizer.step()


@pytest.mark.parametrize(
    "options, name",
    [
        ({"poisson_sampling": False}, "poisson_sampling"),
        ({"noise_generator": torch.Generator()}, "noise_generator"),
        ({"clipping": "adaptive"}, "clipping"),
        ({"max_grad_norm": [1.0, 1.0]}, "max_grad_norm"),
        ({"max_grad_norm": [1.0], "clipping": "per_layer"}, "max_grad_norm.*each of the 2"),
        ({"max_grad_norm": [1.0, 0.0], "clipping": "per_layer"}, "max_grad_norm"),
        ({"max_grad_norm": [1.0, float("nan")], "clipping": "per_layer"}, "max_grad_norm"),
        ({"grad_sample_mode": "no_op"}, "grad_sample_mode"),
    ],
)
def test_what_privacy_forbids_is_refused_by_name(options, name):
    model = nn.Sequential(nn.Flatten(), nn.Linear(192, 2))
    given = {"noise_multiplier": 1.0, "max_grad_norm": 1.0, **options}
    with pytest.raises((ReticentError, TypeError), match=name):
        PrivacyEngine().make_private(
            module=model, optimizer=torch.optim.SGD(model.parameters(), lr=0.1), data_loader=images(), **given
        )


def test_modules_need_no_wrapper():
    model = nn.Linear(2, 2)
    assert register_grad_sampler(nn.Linear)(len) is len
    assert DifferentiallyPrivateDistributedDataParallel(model) is model and DPMultiheadAttention is nn.MultiheadAttention


def test_every_parameter_may_have_a_norm_of_its_own():
    torch.manual_seed(4)
    model = nn.Sequential(nn.Flatten(), nn.Linear(192, 5), nn.Tanh(), nn.Linear(5, 2))
    norms = [0.05, 0.3, 0.02, 4.0]
    engine = PrivacyEngine()
    model, optimizer, _ = engine.make_private(
        module=model, optimizer=torch.optim.SGD(model.parameters(), lr=0.1), data_loader=images(), noise_multiplier=2.0,
        max_grad_norm=norms, clipping="per_layer",
    )  # fmt: skip
    assert optimizer.max_grad_norm == pytest.approx(sum(own * own for own in norms) ** 0.5, rel=1e-15)
    assert engine.own_run.standing()["sigma"] == pytest.approx(2.0 * optimizer.max_grad_norm, rel=1e-12)
    x, y = torch.randn(6, 3, 8, 8), torch.tensor([0, 1, 0, 1, 1, 0])
    engine.own_run.announce(Batch(6, None, 6, False, True, True))
    nn.functional.cross_entropy(model(x), y).backward()
    found = engine.own_run.sum.split(engine.own_run.sum.total().clone())
    other = nn.Sequential(nn.Flatten(), nn.Linear(192, 5), nn.Tanh(), nn.Linear(5, 2))
    other.load_state_dict(model.state_dict())
    expected = [torch.zeros_like(own) for own in other.parameters()]
    shortened = 0
    for row in range(6):
        loss = nn.functional.cross_entropy(other(x[row : row + 1]), y[row : row + 1])
        for total, gradient, norm in zip(expected, torch.autograd.grad(loss, list(other.parameters())), norms, strict=True):
            bound = norm * (1 - 1 / 4096)
            shortened += int(gradient.norm() > bound)
            total += gradient * min(1.0, bound / float(gradient.norm()))
    assert 6 <= shortened < 24
    for own, total in zip(found.values(), expected, strict=True):
        assert torch.allclose(own, total.flatten(), atol=1e-6)
