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
        output_dir=str(folder), per_device_train_batch_size=10, report_to=[], use_cpu=True, disable_tqdm=True,
        **{"save_strategy": "no", "num_train_epochs": 2, "logging_steps": 1, **options},
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


@pytest.mark.parametrize(
    "options, text",
    [
        ({"gradient_accumulation_steps": 2}, "gradient_accumulation_steps"),
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
