"""Private training by the ``Trainer`` of Lightning.

>>> from reticent.torch.lightning import PrivacyCallback  # doctest: +SKIP
>>> private = PrivacyCallback(target_epsilon=3, target_delta=1e-5, max_grad_norm=1.0)  # doctest: +SKIP
>>> Trainer(max_epochs=5, callbacks=[private]).fit(module, loader)  # doctest: +SKIP
>>> private.engine.certificate()  # doctest: +SKIP
"""

from __future__ import annotations

from typing import Any

from torch import nn

try:
    from lightning.pytorch import Callback
except ImportError:
    try:
        from pytorch_lightning import Callback  # type: ignore[assignment]
    except ImportError as error:
        raise ImportError("reticent.torch.lightning needs Lightning: pip install lightning") from error

from .._core import brief
from .._refusals import conflict, invalid
from . import refusals
from .engine import PrivacyEngine
from .sampling import PrivateLoader

#: Precisions that need no scaling of the loss.
PRECISIONS = ("32-true", "64-true", "bf16-mixed", "bf16-true")


class PrivacyCallback(Callback):  # type: ignore[misc]
    """Makes ``trainer.fit`` private: the training loader, the optimizer and the module. What cannot be made private is refused.

    Give ``target_epsilon`` and ``target_delta``, or ``noise_multiplier``, and ``max_grad_norm``; other ``options`` are those of
    :meth:`PrivacyEngine.make_private`. The plan has the epochs or steps of the trainer. ``module`` names the part of the
    LightningModule that ``training_step`` calls, such as ``"net"``; without it that is its only part with weights, or the LightningModule
    itself if ``training_step`` calls ``self(...)``.

    Training losses that the LightningModule logs are exact numbers about private data, which the guarantee does not cover.
    """

    def __init__(
        self,
        *,
        max_grad_norm: float,
        target_epsilon: float | None = None,
        target_delta: float | None = None,
        noise_multiplier: float | None = None,
        module: str | None = None,
        engine: PrivacyEngine | None = None,
        **options: Any,
    ) -> None:
        if (target_epsilon is None) == (noise_multiplier is None):
            raise conflict("target_epsilon", target_epsilon, "give either target_epsilon or noise_multiplier")
        self.engine = engine or PrivacyEngine()
        self.part = module
        self.options = {"max_grad_norm": max_grad_norm, **options}
        if target_epsilon is None:
            self.options.update(noise_multiplier=noise_multiplier, delta=target_delta)
        else:
            self.options.update(target_epsilon=target_epsilon, target_delta=target_delta)
        self._loader: PrivateLoader | None = None
        self._restored: dict[str, Any] | None = None
        self._taken = 0

    def on_fit_start(self, trainer: Any, pl_module: Any) -> None:
        """Makes the training private."""
        _check_trainer(trainer)
        (optimizer,) = trainer.optimizers
        source = trainer.fit_loop._data_source
        options = dict(self.options)
        if options.get("epochs") is None and options.get("steps") is None:
            if trainer.max_steps is not None and trainer.max_steps > 0:
                options["steps"] = int(trainer.max_steps)
            elif trainer.max_epochs is not None and trainer.max_epochs > 0:
                options["epochs"] = int(trainer.max_epochs)
        make = self.engine.make_private if "noise_multiplier" in options else self.engine.make_private_with_epsilon
        if trainer.ckpt_path is not None and self._restored is None and not options.get("resume"):
            remedy = "the checkpoint has no count of private steps, and those before it would not count: train without ckpt_path"
            raise conflict("ckpt_path", brief(str(trainer.ckpt_path)), remedy)
        made = make(module=self._module(pl_module), optimizer=optimizer, data_loader=source.dataloader(), **options)
        self._loader = made[-1]
        if self._restored is not None:
            self.engine.load_state_dict(self._restored)
        self._taken = self.engine.steps
        source.instance = self._loader

    def _module(self, pl_module: Any) -> nn.Module:
        """The part whose calls are private."""
        if self.part is not None:
            try:
                found: nn.Module = pl_module.get_submodule(self.part)
            except AttributeError as error:
                raise invalid("module", self.part, "the LightningModule has no part of this name") from error
            return found
        parts = [own for own in pl_module.children() if any(parameter.requires_grad for parameter in own.parameters())]
        own = any(parameter.requires_grad for parameter in pl_module.parameters(recurse=False))
        has_forward = any("forward" in kind.__dict__ for kind in type(pl_module).__mro__ if _is_own(kind))
        return parts[0] if len(parts) == 1 and not own and not has_forward else pl_module

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        """Refuses a training whose loader or optimizer is another one by now."""
        if trainer.train_dataloader is not self._loader or self._loader is None:
            remedy = "the trainer takes another loader than the private one: set its options that replace loaders back"
            raise refusals.misuse("data_loader", remedy)
        _check_trainer(trainer)

    def on_train_batch_end(self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int) -> None:
        """Every batch is a private step."""
        if self.engine.own_run.is_pending:
            raise refusals.misuse("step", "the trainer took no private step for this batch, so the training is stopped")
        if self.engine.steps_left == 0:
            trainer.should_stop = True

    def state_dict(self) -> dict[str, Any]:
        """The count of private steps, for checkpoints."""
        return {} if self.engine.run is None else {"engine": self.engine.state_dict()}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """The count of private steps in a checkpoint."""
        self._restored = state_dict.get("engine")


def _is_own(kind: type) -> bool:
    """Whether a class is not one of the frameworks'."""
    return kind.__module__.split(".")[0] not in ("lightning", "pytorch_lightning", "torch", "builtins", "lightning_fabric")


def _check_trainer(trainer: Any) -> None:
    """Refuses settings under which the training would not be private, or not what they say."""
    if len(trainer.optimizers) != 1:
        raise conflict("optimizers", len(trainer.optimizers), "private training has one optimizer")
    if trainer.world_size != 1:
        remedy = "the trainer's strategies reduce gradients themselves: use one device, or reticent.torch with torch.distributed"
        raise conflict("devices", trainer.world_size, remedy)
    if trainer.accumulate_grad_batches != 1:
        remedy = "noise is added for every batch: set it to 1, and batch_size to that of the whole step; for parts of it, train in a loop"
        raise conflict("accumulate_grad_batches", trainer.accumulate_grad_batches, remedy)
    if trainer.gradient_clip_val:
        remedy = "the engine clips the gradient of each example: leave it out and set max_grad_norm"
        raise conflict("gradient_clip_val", trainer.gradient_clip_val, remedy)
    if str(trainer.precision) not in PRECISIONS:
        remedy = f"it scales the loss, so gradients would be clipped at another norm: use {', '.join(PRECISIONS)}"
        raise conflict("precision", trainer.precision, remedy)
    if trainer.overfit_batches:
        raise conflict("overfit_batches", trainer.overfit_batches, "batches must be Poisson samples: leave it out")
    if trainer.reload_dataloaders_every_n_epochs:
        remedy = "the private loader belongs to the whole training: leave it out"
        raise conflict("reload_dataloaders_every_n_epochs", trainer.reload_dataloaders_every_n_epochs, remedy)
