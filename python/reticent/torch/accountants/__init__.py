"""What an engine has spent so far, by the names of Opacus. The accounting is that of :mod:`reticent.accounting`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..engine import PrivacyEngine


class Accountant:
    """A view of an engine's account."""

    def __init__(self, engine: PrivacyEngine) -> None:
        self._engine = engine

    def get_epsilon(self, delta: float) -> float:
        """ε of the steps so far at this δ, an upper bound."""
        return self._engine.get_epsilon(delta)

    @property
    def history(self) -> list[tuple[float, float, int]]:
        """Noise multiplier, sampling rate and number of the steps so far."""
        run = self._engine.run
        return [] if run is None else [(self._engine.noise_multiplier, run.rate, self._engine.steps)]

    def __len__(self) -> int:
        run = self._engine.run
        return 0 if run is None else self._engine.steps

    @staticmethod
    def mechanism() -> str:
        """How ε is computed: from distributions of the privacy loss."""
        return "prv"


__all__ = ["Accountant"]
