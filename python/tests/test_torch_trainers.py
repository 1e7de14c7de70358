"""The trainers of Lightning and transformers: private steps only, and what cannot be private is refused.

They run where lightning, transformers and accelerate are installed.
"""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from reticent.errors import RequestError  # noqa: E402
from torch import nn  # noqa: E402
from torch.utils.data import DataLoader, TensorDataset  # noqa: E402

QUIET = {"logger": False, "enable_checkpointing": False, "enable_progress_bar": False, "enable_model_summary": False}


def data():
    generator = torch.Generator().manual_seed(3)
    x = torch.randn(40, 5, generator=generator)
    return TensorDataset(x, (x[:, 0] > 0).long())


@pytest.fixture
def lightning():
    return pytest.importorskip("lightning")


def classifier(lightning, has_forward=False, steps_by_hand=False):
    class Own(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.net = nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 2))
            self.automatic_optimization = not steps_by_hand

        def training_step(self, batch, place):
            output = self(batch[0]) if has_forward else self.net(batch[0])
            loss = nn.functional.cross_entropy(output, batch[1])
            if steps_by_hand:
                # Forgets to take a step.
                self.manual_backward(loss)
                return None
            return loss

        def configure_optimizers(self):
            return torch.optim.Adam(self.parameters(), lr=0.01)

    if has_forward:
        Own.forward = lambda self, x: self.net(x)
    return Own()


def fitted(lightning, module, loader=None, **options):
    from reticent.torch.lightning import PrivacyCallback

    private = PrivacyCallback(noise_multiplier=1.0, target_delta=1e-5, max_grad_norm=1.0)
    given = {**QUIET, "max_epochs": 2, "accelerator": "cpu", "callbacks": [private], **options}
    given["callbacks"] = [private]
    lightning.Trainer(**given).fit(module, loader or DataLoader(data(), batch_size=10, shuffle=True))
    return private


@pytest.mark.parametrize("has_forward", [True, False])
def test_lightning_takes_private_steps(lightning, has_forward):
    module = classifier(lightning, has_forward)
    before = module.net[0].weight.clone()
    private = fitted(lightning, module)
    engine = private.engine
    assert engine.steps == 8 and engine.steps_left == 0 and not torch.equal(before, module.net[0].weight)
    assert engine.certificate().verify() and engine.own_run.module is (module if has_forward else module.net)


@pytest.mark.parametrize(
    "options, text",
    [
        ({"gradient_clip_val": 1.0}, "max_grad_norm"),
        ({"precision": "16-true"}, "precision"),
        ({"overfit_batches": 2}, "overfit_batches"),
        ({"reload_dataloaders_every_n_epochs": 1}, "whole training"),
    ],
)
def test_lightning_settings_that_break_privacy_are_refused(lightning, options, text):
    with pytest.raises(RequestError, match=text):
        fitted(lightning, classifier(lightning), **options)


@pytest.mark.parametrize("has_forward", [True, False])
def test_lightning_accumulates_within_private_steps(lightning, has_forward):
    module, sizes = classifier(lightning, has_forward), []
    module.net.register_forward_pre_hook(lambda _, given: sizes.append(len(given[0])) if module.trainer.training else None)
    before = module.net[0].weight.clone()
    private = fitted(lightning, module, DataLoader(data(), batch_size=4), accumulate_grad_batches=5)
    engine = private.engine
    # 40 examples in steps of 20, twice.
    assert engine.steps == 4 and engine.steps_left == 0 and not torch.equal(before, module.net[0].weight)
    assert engine.own_run.standing()["expected_batch"] == 20 and max(sizes) <= 4 and len(sizes) > 4
    assert "training_step" not in vars(module) and module.trainer.accumulate_grad_batches == 5


def test_lightning_asks_for_a_loss_of_every_part(lightning):
    module = classifier(lightning)
    module.__class__.training_step = lambda self, batch, place: None
    with pytest.raises(RequestError, match="no loss for a part"):
        fitted(lightning, module, DataLoader(data(), batch_size=4), accumulate_grad_batches=5)
    assert "training_step" not in vars(module)


def test_lightning_stops_when_a_step_is_not_private(lightning):
    with pytest.raises(RequestError, match="no private step"):
        fitted(lightning, classifier(lightning, steps_by_hand=True))


def test_lightning_checkpoints_keep_the_count(lightning, tmp_path):
    from reticent.torch.lightning import PrivacyCallback

    def trainer(private, epochs):
        given = {**QUIET, "max_epochs": epochs, "accelerator": "cpu", "callbacks": private and [private]}
        return lightning.Trainer(**given)

    def private():
        return PrivacyCallback(noise_multiplier=1.0, target_delta=1e-5, max_grad_norm=1.0, epochs=3)

    loader = DataLoader(data(), batch_size=10)
    first, module = private(), classifier(lightning)
    own = trainer(first, 1)
    own.fit(module, loader)
    own.save_checkpoint(tmp_path / "kept.ckpt")
    second = private()
    trainer(second, 3).fit(classifier(lightning), loader, ckpt_path=tmp_path / "kept.ckpt")
    assert first.engine.steps == 4 and second.engine.steps == 12
    plain = trainer(None, 1)
    plain.fit(classifier(lightning), loader)
    plain.save_checkpoint(tmp_path / "plain.ckpt")
    with pytest.raises(RequestError, match="no count of private steps"):
        trainer(private(), 3).fit(classifier(lightning), loader, ckpt_path=tmp_path / "plain.ckpt")


@pytest.fixture
def transformers():
    pytest.importorskip("accelerate")
    return pytest.importorskip("transformers")


def trainer(transformers, folder, make=None, language=False, **options):
    from test_torch_transformers import bert, rows

    arguments = transformers.TrainingArguments(
        output_dir=str(folder), report_to=[], use_cpu=True, disable_tqdm=True,
        **{"save_strategy": "no", "num_train_epochs": 2, "logging_steps": 1, "per_device_train_batch_size": 10, **options},
    )  # fmt: skip
    more = {}
    if language:
        from reticent.torch.transformers import causal_loss

        more["compute_loss_func"] = causal_loss
    return transformers.Trainer(model=(make or bert)(), args=arguments, train_dataset=list(rows(language)), **more)


def test_transformers_takes_private_steps(transformers, tmp_path):
    from reticent.torch.transformers import make_private_trainer
    from test_torch_transformers import gpt2

    own = trainer(transformers, tmp_path, gpt2, language=True, bf16=True)
    before = own.model.transformer.wte.weight.clone()
    engine = make_private_trainer(own, target_epsilon=3, target_delta=1e-5, max_grad_norm=1.0)
    own.train()
    assert engine.steps == 4 and engine.steps_left == 0 and not torch.equal(before, own.model.transformer.wte.weight)
    assert engine.certificate().epsilon <= 3 and own.args.max_grad_norm == 0
    # Losses are exact numbers about private data.
    assert not any("loss" in key for entry in own.state.log_history for key in entry)


@pytest.mark.parametrize("language", [False, True])
def test_transformers_accumulates_within_private_steps(transformers, tmp_path, language):
    from reticent.torch.transformers import make_private_trainer
    from test_torch_transformers import bert, gpt2

    own = trainer(transformers, tmp_path, gpt2 if language else bert, language, per_device_train_batch_size=3, gradient_accumulation_steps=5)
    count, sizes = len(own.train_dataset), []
    engine = make_private_trainer(own, noise_multiplier=1.0, max_grad_norm=1.0, log_training_loss=True)
    own.model.register_forward_pre_hook(lambda _, given, named: sizes.append(len(named["input_ids"])), with_kwargs=True)
    own.train()
    assert engine.own_run.standing()["expected_batch"] == 15
    assert engine.steps == own.state.global_step == 2 * -(-count // 15) and engine.steps_left == 0
    assert max(sizes) <= 3 and len(sizes) > engine.steps
    losses = [entry["loss"] for entry in own.state.log_history if "loss" in entry]
    assert len(losses) == engine.steps and all(0 < loss < 10 for loss in losses)


def stepped(rows, by_unit=False):
    """A run and a loader in front of a step with the first examples."""
    from reticent.torch.parts import give_examples
    from reticent.torch.sampling import Batch, Examples
    from test_torch_engine import data as examples
    from test_torch_engine import network, private

    units = {"units": [row // 3 for row in range(60)], "unit": "user"} if by_unit else {}
    given = DataLoader(examples(), batch_size=20)
    engine, model, optimizer, loader = private(network(), loader=given, **units)
    give_examples(loader, given)
    unit = torch.arange(rows) // 3 if by_unit else None
    engine.run.announce(Batch(rows, unit, len(unit.unique()) if by_unit else rows, False, True, True))
    return engine, model, optimizer, loader, Examples([examples()[row] for row in range(rows)])


@pytest.mark.parametrize("by_unit", [False, True])
def test_the_sum_of_parts_is_that_of_the_batch(by_unit):
    from reticent.torch.parts import parts_of
    from test_torch_engine import clipped_loop, network, present_sum
    from test_torch_engine import data as examples

    engine, model, _, loader, step = stepped(9, by_unit)
    seen = []
    for (inputs, labels), rows in parts_of(engine.run, loader, step, 4):
        assert rows == len(inputs) == len(labels)
        seen.append(rows)
        nn.functional.cross_entropy(model(inputs), labels).backward()
    assert seen == ([3, 3, 3] if by_unit else [4, 4, 1]) and engine.run.batch.is_last
    x, y = examples()[:9]
    unit = torch.arange(9) // 3 if by_unit else None
    assert torch.allclose(present_sum(engine), clipped_loop(network(), x, y, 1.0, unit), atol=1e-5)


def test_a_part_that_is_left_out_is_refused():
    from reticent.torch.parts import parts_of

    engine, model, optimizer, loader, step = stepped(9)
    parts = parts_of(engine.run, loader, step, 4)
    next(parts)
    (inputs, labels), _ = next(parts)
    with pytest.raises(RequestError, match="not trained on"):
        model(inputs)
    next(parts)
    with pytest.raises(RequestError, match="backward"):
        optimizer.step()


def test_only_whole_steps_of_the_private_loader_are_divided():
    from reticent.torch.parts import parts_of
    from reticent.torch.sampling import Batch

    engine, _, _, loader, step = stepped(9)
    with pytest.raises(RequestError, match="not the private loader's"):
        next(parts_of(engine.run, loader, torch.zeros(9, 5), 4))
    engine.run.announce(Batch(9, None, 9, False, False, True))
    with pytest.raises(RequestError, match="cannot be divided"):
        next(parts_of(engine.run, loader, step, 4))


@pytest.mark.parametrize("workers", [0, 1])
def test_lightning_keeps_examples_and_targets_together(lightning, workers):
    """Targets in a list, one for each example, as detectors have them."""
    pairs, seen = [], []

    class Own(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.net = nn.Linear(1, 1)

        def training_step(self, batch, place):
            x, targets = batch
            pairs.extend((int(row), int(own)) for row, own in zip(x, targets, strict=True))
            seen.append(len(x))
            return sum(((row - own) ** 2).sum() for row, own in zip(self.net(x), targets, strict=True)) / len(targets)

        def backward(self, loss, *args, **kwargs):
            super().backward(loss, *args, **kwargs)
            seen.append(None)

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=0.0)

    rows = [(torch.tensor([float(row)]), torch.tensor([float(row)])) for row in range(40)]
    loader = DataLoader(
        rows, batch_size=4, num_workers=workers, collate_fn=lambda own: (torch.stack([x for x, _ in own]), [y for _, y in own])
    )
    private = fitted(lightning, Own(), loader, accumulate_grad_batches=5)
    assert len(pairs) > 20 and all(row == own for row, own in pairs if row or own)
    assert seen[1::2] == [None] * (len(seen) // 2) and private.engine.steps == 4
    # The loader that it was made of is the user's.
    assert private._loader.made_of is loader


@pytest.mark.parametrize(
    "options, text",
    [
        ({"label_smoothing_factor": 0.1}, "label_smoothing_factor"),
        ({"auto_find_batch_size": True}, "auto_find_batch_size"),
        ({"torch_compile": True}, "torch_compile"),
    ],
)
def test_transformers_arguments_that_break_privacy_are_refused(transformers, tmp_path, options, text):
    from reticent.torch.transformers import make_private_trainer

    with pytest.raises(RequestError, match=text):
        make_private_trainer(trainer(transformers, tmp_path, **options), noise_multiplier=1.0, max_grad_norm=1.0)


def test_transformers_stops_when_a_step_is_not_private(transformers, tmp_path):
    from reticent.torch.transformers import make_private_trainer

    own = trainer(transformers, tmp_path)
    make_private_trainer(own, noise_multiplier=1.0, max_grad_norm=1.0)
    own.args.gradient_accumulation_steps = 2
    with pytest.raises(RequestError, match="gradient_accumulation_steps"):
        own.train()
    own.args.gradient_accumulation_steps = 1
    kept = own.optimizer
    own.optimizer = torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=0.1)
    with pytest.raises(RequestError, match="not private"):
        own.train()
    assert kept is not own.optimizer


def test_transformers_resumes_with_a_record_only(transformers, tmp_path):
    from reticent.torch.transformers import make_private_trainer

    def begun(**options):
        own = trainer(transformers, tmp_path, save_strategy="steps", save_steps=2)
        return own, make_private_trainer(own, noise_multiplier=1.0, max_grad_norm=1.0, **options)

    record = tmp_path / "steps.json"
    own, engine = begun(record=record)
    own.args.max_steps = 2
    own.train()
    assert engine.steps == 2
    engine.detach()
    engine.run.steps = None
    with pytest.raises(RequestError, match="record="):
        begun()[0].train(resume_from_checkpoint=True)
    own, engine = begun(record=record, resume=True)
    own.train(resume_from_checkpoint=True)
    assert engine.steps == 4 and own.state.global_step == 4
