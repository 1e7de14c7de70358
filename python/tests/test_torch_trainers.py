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
        ({"accumulate_grad_batches": 2}, "accumulate_grad_batches"),
        ({"gradient_clip_val": 1.0}, "max_grad_norm"),
        ({"precision": "16-true"}, "precision"),
        ({"overfit_batches": 2}, "overfit_batches"),
        ({"reload_dataloaders_every_n_epochs": 1}, "whole training"),
    ],
)
def test_lightning_settings_that_break_privacy_are_refused(lightning, options, text):
    with pytest.raises(RequestError, match=text):
        fitted(lightning, classifier(lightning), **options)


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


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("by_unit", [False, True])
def test_steps_are_given_part_after_part(by_unit, workers):
    """Examples and targets in lists, as detectors have them, stay together; units stay whole; every part is in the step's sum."""
    from reticent.torch.parts import Steps
    from test_torch_engine import clipped_loop, network, present_sum, private
    from test_torch_engine import data as examples

    rows = [(x, {"class": y}) for x, y in examples()]
    given = DataLoader(rows, batch_size=8, num_workers=workers, collate_fn=lambda own: (torch.stack([x for x, _ in own]), [y for _, y in own]))
    units = {"units": [row // 3 for row in range(60)], "unit": "user"} if by_unit else {}
    engine, model, optimizer, loader = private(network(), loader=given, **units)
    steps, other, taken = Steps(loader, engine.run, 4, given), network(), 0
    assert len(steps) == len(loader) and steps.dataset is rows and loader.made_of is given
    for step in steps:
        assert "labels" not in step
        seen, sizes = [], []
        for (inputs, targets), count in step:
            labels = torch.stack([own["class"] for own in targets])
            if not engine.run.batch.is_blank:
                assert count == len(inputs) == len(targets) and torch.equal(labels, (inputs[:, 0] > 0).long())
                seen.append((inputs, labels, engine.run.batch.unit))
                sizes.append(engine.run.batch.units)
            nn.functional.cross_entropy(model(inputs), labels).backward()
        if seen:
            assert all(len(own[0]) <= (12 if by_unit else 4) for own in seen)
            unit = None
            if by_unit:
                starts = [sum(sizes[:place]) for place in range(len(sizes))]
                unit = torch.cat([own[2] + start for own, start in zip(seen, starts, strict=True)])
            x, y = (torch.cat([own[place] for own in seen]) for place in range(2))
            other.load_state_dict(model.state_dict())
            assert torch.allclose(present_sum(engine), clipped_loop(other, x, y, 1.0, unit), atol=1e-4)
        optimizer.step()
        optimizer.zero_grad()
        taken += 1
    assert taken == len(loader) == engine.steps


def test_a_part_that_is_left_out_is_refused():
    from reticent.torch.parts import Steps
    from test_torch_engine import data as examples
    from test_torch_engine import network, private

    given = DataLoader(examples(), batch_size=30)
    engine, model, optimizer, loader = private(network(), loader=given)
    steps = iter(Steps(loader, engine.run, 2, given))
    parts = iter(next(steps))
    next(parts)
    (inputs, _), _ = next(parts)
    with pytest.raises(RequestError, match="not trained on"):
        model(inputs)
    with pytest.raises(RequestError, match="before it was given all parts"):
        next(steps)
    engine, model, optimizer, loader = private(network(), loader=given)
    step = next(iter(Steps(loader, engine.run, 2, given)))
    for (inputs, labels), _ in step:
        nn.functional.cross_entropy(model(inputs), labels).backward()
    optimizer.step()
    with pytest.raises(RequestError, match="a step that is over"):
        next(iter(step))


@pytest.mark.parametrize(
    "options, text",
    [
        ({"label_smoothing_factor": 0.1}, "label_smoothing_factor"),
        ({"auto_find_batch_size": True}, "auto_find_batch_size"),
        ({"gradient_accumulation_steps": 2, "include_num_input_tokens_seen": True}, "include_num_input_tokens_seen"),
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
