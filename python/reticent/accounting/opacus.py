"""An accountant for Opacus."""

from __future__ import annotations

import importlib
import math
from typing import Any

from .events import Events
from .imports import from_opacus
from .results import EpsilonBounds
from .values import real

_made: dict[str, Any] = {}


def opacus_accountant() -> Any:
    """The class of an accountant for Opacus, registered as ``"reticent"``.

    After this call ``PrivacyEngine(accountant="reticent")`` works, and so does
    ``get_noise_multiplier(accountant="reticent")`` of Opacus. The class is also
    ``reticent.accounting.Accountant``. Its ``get_epsilon(delta)`` is a proven upper bound, and its method
    ``events()`` gives the events of the history. Opacus has to be installed; importing this module does not
    import it.

    >>> from opacus import PrivacyEngine  # doctest: +SKIP
    >>> from reticent.accounting import opacus_accountant
    >>> opacus_accountant()  # doctest: +SKIP
    <class 'reticent.accounting.Accountant'>
    >>> engine = PrivacyEngine(accountant="reticent")  # doctest: +SKIP
    """
    made = _made.get("Accountant")
    if made is None:
        try:
            accountants = importlib.import_module("opacus.accountants")
        except ImportError as error:
            raise ImportError("Opacus is not installed: pip install opacus") from error
        made = _accountant_class(accountants.IAccountant)
        _made["Accountant"] = made
        accountants.register_accountant(made.mechanism(), made, force=True)
    return made


def _accountant_class(base: Any) -> Any:
    class Accountant(base):  # type: ignore[misc]
        """An accountant of Opacus whose ε is a proven upper bound, computed by Reticent.

        It assumes Poisson sampling, as all accountants of Opacus do.
        """

        # Abstract in the class of Opacus.
        def __init__(self) -> None:
            super().__init__()

        def step(self, *, noise_multiplier: float, sample_rate: float) -> None:
            """Signals one optimization step."""
            if self.history:
                noise, rate_, count = self.history[-1]
                if (noise, rate_) == (noise_multiplier, sample_rate):
                    self.history[-1] = (noise, rate_, count + 1)
                    return
            self.history.append((noise_multiplier, sample_rate, 1))

        def get_epsilon(self, delta: float, *, accountant: str | None = None, **_: Any) -> float:
            """The upper bound on ε so far, at this δ; infinite if a step had no noise."""
            at = real("delta", delta)
            if any(noise == 0 and rate_ > 0 and count > 0 for noise, rate_, count in self.history):
                return math.inf
            question = f'{{"epsilon":{{"delta":{at!r}}}}}'
            return float(EpsilonBounds(self.events()._ask(question, accountant, quiet=True)))

        def events(self) -> Events:
            """The events of the history."""
            return from_opacus(self.history)

        def __len__(self) -> int:
            return sum(int(count) for _, _, count in self.history)

        @classmethod
        def mechanism(cls) -> str:
            """The name of the accountant in Opacus."""
            return "reticent"

    # So that instances can be pickled.
    Accountant.__module__, Accountant.__qualname__ = "reticent.accounting", "Accountant"
    return Accountant
