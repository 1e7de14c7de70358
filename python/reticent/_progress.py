"""Progress of long work: a bar of tqdm where it is installed and somebody looks, otherwise log messages."""

from __future__ import annotations

import json
import logging
import sys
from typing import Any

logger = logging.getLogger("reticent")


def display(wanted: bool | None, callback: Any = None) -> Any:
    """What the native module calls with notes about its work; ``None`` if nobody wants to know.

    ``wanted`` is ``True``, ``False``, or ``None`` for a bar where there is a terminal or a notebook. ``callback`` is called with the
    metrics of a training, a dictionary.
    """
    if wanted is not None and not isinstance(wanted, bool):
        from ._core import brief
        from .errors import RequestError

        remedy = "give True, False or None"
        text = f"progress = {brief(wanted)}: {remedy}"
        raise RequestError(text, code="R104", field="progress", value=brief(wanted), remedy=remedy)
    bars = _bars() if wanted or (wanted is None and _is_watched()) else None
    if bars is None and callback is None and not logger.isEnabledFor(logging.INFO):
        return None
    return _Display(bars, callback)


def _is_watched() -> bool:
    if "ipykernel" in sys.modules:
        return True
    stream = sys.stderr
    return stream is not None and hasattr(stream, "isatty") and stream.isatty()


def _bars() -> Any:
    import warnings

    with warnings.catch_warnings():
        # In a notebook without widgets tqdm draws with text, and says so.
        warnings.simplefilter("ignore")
        try:
            from tqdm.auto import tqdm
        except ImportError:
            return None
    return tqdm


class _Display:
    def __init__(self, bars: Any, callback: Any) -> None:
        self._bars = bars
        self._callback = callback
        self._open: list[Any] = []

    def __call__(self, notes: list[tuple[str, str, int]]) -> None:
        for name, text, count in notes:
            if name in ("reading", "steps", "thinking"):
                self._begin(name, text, count)
            elif name == "at":
                self._at(count)
            elif name == "say":
                self._say(text)
            elif name == "report":
                self._report(json.loads(text))
            elif name == "end":
                self._end()

    def _begin(self, kind: str, text: str, count: int) -> None:
        logger.info("%s", {"reading": f"reading {text}", "steps": f"{count} steps"}.get(kind, "computing"))
        if self._bars is None:
            self._open.append(None)
            return
        unit, scaled = ("B", True) if kind == "reading" else ("it", False)
        label = text.rsplit("/", 1)[-1] if kind == "reading" else None
        # Work that is done at once needs no bar.
        bar = self._bars(
            total=count or None, unit=unit, unit_scale=scaled, desc=label, leave=False, delay=0.5
        )
        self._open.append(bar)

    def _at(self, count: int) -> None:
        if self._open and self._open[-1] is not None:
            bar = self._open[-1]
            bar.update(count - bar.n)

    def _say(self, text: str) -> None:
        logger.info("%s", text)
        if self._open and self._open[-1] is not None:
            self._open[-1].set_description(text)

    def _report(self, metrics: dict[str, Any]) -> None:
        shown = {key: value for key, value in metrics.items() if value is not None}
        logger.info("%s", shown)
        if self._open and self._open[-1] is not None:
            digits = {
                key: f"{value:.4g}" for key, value in shown.items() if isinstance(value, float)
            }
            self._open[-1].set_postfix(digits, refresh=False)
        if self._callback is not None:
            self._callback(metrics)

    def _end(self) -> None:
        bar = self._open.pop() if self._open else None
        if bar is not None:
            bar.close()
