"""Private training by the ``Trainer`` of transformers.

>>> from reticent.torch.transformers import make_private_trainer  # doctest: +SKIP
>>> trainer = Trainer(model=model, args=arguments, train_dataset=data)  # doctest: +SKIP
>>> engine = make_private_trainer(trainer, target_epsilon=3, target_delta=1e-5, max_grad_norm=0.5)  # doctest: +SKIP
>>> trainer.train()  # doctest: +SKIP
>>> engine.certificate()  # doctest: +SKIP
"""

from __future__ import annotations

from typing import Any

from torch import Tensor
from torch.utils.data import DataLoader

try:
    from transformers import Trainer, TrainerCallback
except ImportError as error:
    raise ImportError("reticent.torch.transformers needs transformers: pip install transformers accelerate") from error

from .._core import brief
from .._refusals import conflict, invalid
from . import refusals
from .engine import PrivacyEngine
from .losses import sequence_loss
from .parts import Steps, enlarged, mean_of
from .sampling import PrivateLoader

#: What a trainer logs about private data without noise.
EXACT = ("loss", "train_loss", "grad_norm", "total_flos")


def causal_loss(outputs: Any, labels: Tensor, num_items_in_batch: Any = None) -> Tensor:
    """A loss of causal language models that does not mix examples: ``Trainer(compute_loss_func=causal_loss)``."""
    return sequence_loss(outputs["logits"], labels, shift=True)


def token_loss(outputs: Any, labels: Tensor, num_items_in_batch: Any = None) -> Tensor:
    """A loss of token classifiers and masked language models that does not mix examples: ``Trainer(compute_loss_func=token_loss)``."""
    return sequence_loss(outputs["logits"], labels)


def make_private_trainer(
    trainer: Trainer,
    *,
    max_grad_norm: float,
    target_epsilon: float | None = None,
    target_delta: float | None = None,
    noise_multiplier: float | None = None,
    engine: PrivacyEngine | None = None,
    log_training_loss: bool = False,
    **options: Any,
) -> PrivacyEngine:
    """Makes ``trainer.train()`` private: its loader, its optimizer and its model. What cannot be made private is refused.

    Give ``target_epsilon`` and ``target_delta``, or ``noise_multiplier``; other ``options`` are those of
    :meth:`PrivacyEngine.make_private`. The plan has the epochs or steps of the trainer's arguments; the expected size of a step is
    ``per_device_train_batch_size`` times ``gradient_accumulation_steps``, and the model is given at most
    ``per_device_train_batch_size`` examples at a time, or those of one unit.

    Of the arguments, ``max_grad_norm`` is set to 0, since the engine clips, and ``gradient_accumulation_steps`` to 1, since every batch of
    the loader is then that of a whole step. Training losses are exact numbers about private data and are
    left out of the log, unless ``log_training_loss`` says otherwise. After an interruption ``resume_from_checkpoint`` needs ``record=``
    and ``resume=True``, which know of steps after the checkpoint.
    """
    if not isinstance(trainer, Trainer):
        raise invalid("trainer", brief(trainer), "give a transformers.Trainer", "R202")
    if (target_epsilon is None) == (noise_multiplier is None):
        raise conflict("target_epsilon", target_epsilon, "give either target_epsilon or noise_multiplier")
    check_trainer(trainer, is_begun=False)
    engine = engine or PrivacyEngine()
    args = trainer.args
    times, most = int(args.gradient_accumulation_steps), int(args.per_device_train_batch_size)
    if options.get("epochs") is None and options.get("steps") is None:
        if args.max_steps > 0:
            options["steps"] = int(args.max_steps)
        else:
            options["epochs"] = float(args.num_train_epochs)
    own_loader = _loader(trainer)
    given: dict[str, Any] = {
        "module": trainer.model,
        "optimizer": trainer.create_optimizer(),
        "data_loader": enlarged(own_loader, times),
        "max_grad_norm": max_grad_norm,
        **options,
    }
    if noise_multiplier is None:
        given.update(target_epsilon=target_epsilon, target_delta=target_delta)
        loader = engine.make_private_with_epsilon(**given)[-1]
    else:
        loader = engine.make_private(noise_multiplier=noise_multiplier, delta=target_delta, **given)[-1]
    args.max_grad_norm, args.gradient_accumulation_steps = 0.0, 1
    # Losses are divided by the trainer's number, and by accelerate's.
    trainer.accelerator.gradient_accumulation_steps = 1
    # Samples are independent of each other, so none is skipped after an interruption.
    args.ignore_data_skip = True
    # A loss of its own number of items is not a mean over the batch.
    trainer.model_accepts_loss_kwargs = False
    given_loader: Any = loader
    if times > 1:
        given_loader = Steps(loader, engine.own_run, most, own_loader)
        _divide(trainer)
    trainer.get_train_dataloader = lambda: given_loader  # type: ignore[method-assign]
    if not log_training_loss:
        plain = trainer.log

        def log(logs: dict[str, float], *more: Any, **other: Any) -> None:
            plain({key: value for key, value in logs.items() if key not in EXACT}, *more, **other)

        trainer.log = log  # type: ignore[method-assign]
    trainer.add_callback(_Watch(trainer, engine, given_loader))
    return engine


def _divide(trainer: Trainer) -> None:
    """Has the trainer compute a step part after part."""
    plain = trainer.training_step

    def training_step(model: Any, inputs: Any, num_items_in_batch: Any = None) -> Tensor:
        # The number of items is that of the whole batch, and no part's.
        return mean_of([(plain(model, part), rows) for part, rows in inputs])

    trainer.training_step = training_step  # type: ignore[method-assign]


class _Watch(TrainerCallback):  # type: ignore[misc]
    """Every step of the trainer is a private one."""

    def __init__(self, trainer: Trainer, engine: PrivacyEngine, loader: PrivateLoader | Steps) -> None:
        self.trainer, self.engine, self.loader = trainer, engine, loader

    def on_train_begin(self, args: Any, state: Any, control: Any, **given: Any) -> None:
        check_trainer(self.trainer)
        if given.get("train_dataloader", self.loader) is not self.loader:
            raise refusals.misuse("data_loader", "the trainer takes another loader than the private one")
        if state.global_step > self.engine.steps:
            remedy = (
                f"the checkpoint has {state.global_step} steps of which the engine counts {self.engine.steps}: make the "
                "trainer private with record= from the start, and with resume=True to go on"
            )
            raise conflict("resume_from_checkpoint", state.global_step, remedy)

    def on_step_end(self, args: Any, state: Any, control: Any, **given: Any) -> None:
        if self.engine.own_run.is_pending or state.global_step > self.engine.steps:
            raise refusals.misuse("step", "the trainer took a step that is not private, so the training is stopped")
        if self.engine.steps_left == 0:
            control.should_training_stop = True


def _loader(trainer: Trainer) -> DataLoader[Any]:
    """The trainer's loader as it was before accelerate divides it among devices."""
    if trainer.train_dataset is None:
        raise invalid("train_dataset", "None", "give the trainer the dataset to train on")
    # The trainer's own method also drops columns that the model does not take.
    kept = trainer.accelerator.prepare

    def as_it_is(*given: Any, **_: Any) -> Any:
        return given[0] if len(given) == 1 else given

    trainer.accelerator.prepare = as_it_is
    try:
        found: DataLoader[Any] = trainer.get_train_dataloader()
    finally:
        trainer.accelerator.prepare = kept
    return found


def check_trainer(trainer: Trainer, is_begun: bool = True) -> None:
    """Refuses arguments under which the training would not be private, or not what they say."""
    args = trainer.args
    accumulated = 1 if is_begun else args.gradient_accumulation_steps
    counted = getattr(args, "include_num_input_tokens_seen", False) if accumulated > 1 else False
    refused = [
        ("gradient_accumulation_steps", args.gradient_accumulation_steps, accumulated,
         "it was set after make_private_trainer, and noise is added for every batch: set it before"),
        ("include_num_input_tokens_seen", str(counted).lower() not in ("false", "no"), False,
         "tokens are not counted with gradient_accumulation_steps: leave it out"),
        ("fp16", args.fp16, False, "it scales the loss, so gradients would be clipped at another norm: use bf16 or full precision"),
        ("world_size", args.world_size, 1, "the trainer reduces gradients itself: use one process"),
        ("n_gpu", max(1, args.n_gpu), 1, "the trainer divides batches itself: make one device visible (CUDA_VISIBLE_DEVICES)"),
        ("torch_compile", args.torch_compile, False, "compiled modules do not call the hooks of their layers: leave it out"),
        ("label_smoothing_factor", args.label_smoothing_factor, 0.0,
         "its loss is a mean over all tokens of the batch, so examples mix: give Trainer a compute_loss_func"),
        ("auto_find_batch_size", args.auto_find_batch_size, False, "the size of a step belongs to the plan: leave it out"),
        ("deepspeed", args.deepspeed or None, None, "it computes gradients of its own: leave it out"),
        ("fsdp", args.fsdp or None, None, "it divides parameters among devices: leave it out"),
    ]  # fmt: skip
    for name, value, wanted, remedy in refused:
        if value != wanted:
            raise conflict(name, value, remedy)
