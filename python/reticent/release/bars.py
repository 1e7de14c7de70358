"""Histograms as bar charts."""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Sequence
from typing import Any

from .._core import number

#: The longest label, in characters; what is cut off a longer one is in its tooltip.
_MOST = 60


def bars(
    title: str, labels: Sequence[str], value: Sequence[float], interval: Sequence[Sequence[float]]
) -> str:
    """A bar for each count, with its interval, as SVG."""
    row, plot, head, foot = 24, 420, 28, 24
    names = [_cut(name) for name in labels]
    counts = [number(own, 6) for own in value]
    left = 16 + max(map(_width, names), default=0)
    low = min(0.0, *(ends[0] for ends in interval), *value)
    high = max(1.0, *(ends[1] for ends in interval), *value)
    width = max(left + plot + 12 + max(map(_width, counts), default=0), 24 + 1.3 * _width(title))
    height = head + row * len(names) + foot

    def at(count: float) -> float:
        return round(left + plot * (count - low) / (high - low), 2)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height}" '
        f'width="{width:g}" height="{height}" font-family="sans-serif" font-size="12" '
        f'role="img" aria-label="{html.escape(title)}, private histogram">',
        f'<text x="8" y="18" font-size="14" fill="currentColor">{html.escape(title)}</text>',
    ]
    for place, (name, own, (least, largest)) in enumerate(zip(labels, value, interval, strict=True)):
        top = head + row * place
        middle, start, end = top + row / 2, min(at(0), at(own)), max(at(0), at(own))
        whisker = f"M{at(least)} {middle}H{at(largest)}"
        ticks = f"M{at(least)} {middle - 4}v8M{at(largest)} {middle - 4}v8"
        parts += [
            f'<text x="{left - 6:g}" y="{middle + 4}" text-anchor="end" fill="currentColor">'
            f"<title>{html.escape(name)}</title>{html.escape(names[place])}</text>",
            f'<rect x="{start}" y="{top + 4}" width="{round(end - start, 2)}" height="{row - 8}" '
            'fill="#7aa6c2"/>',
            f'<path d="{whisker}{ticks}" stroke="currentColor" fill="none"/>',
            f'<text x="{at(max(largest, own)) + 6}" y="{middle + 4}" fill="currentColor">'
            f"{counts[place]}</text>",
        ]
    parts.append(
        f'<path d="M{at(0)} {head - 4}V{height - foot + 4}" stroke="currentColor" stroke-opacity="0.5"/>'
        f'<text x="{left + plot / 2:g}" y="{height - 6}" text-anchor="middle" fill="currentColor">rows</text>'
        "</svg>"
    )
    return "".join(parts)


def draw(
    ax: Any, title: str, labels: Sequence[str], value: Sequence[float], interval: Sequence[Sequence[float]]
) -> Any:
    """The same on the axes of matplotlib."""
    places = range(len(labels))
    below = [max(own - low, 0) for own, (low, _) in zip(value, interval, strict=True)]
    above = [max(high - own, 0) for own, (_, high) in zip(value, interval, strict=True)]
    ax.barh(places, value, xerr=[below, above], color="#7aa6c2", ecolor="#444444", capsize=3)
    # Long labels are broken into lines, because axes leave them little room; $ would begin a formula.
    shown = [_broken(name).replace("$", r"\$") for name in labels]
    ax.set_yticks(list(places), shown)
    ax.invert_yaxis()
    ax.set(title=title.replace("$", r"\$"), xlabel="rows")
    return ax


def _width(text: str) -> float:
    """About as many pixels as a text is wide, rather too many than too few."""
    return sum(12.5 if unicodedata.east_asian_width(one) in "WF" else 7.5 for one in text)


def _cut(name: str) -> str:
    return name if len(name) <= _MOST else f"{name[: _MOST - 1]}…"


def _broken(name: str, line: int = 14) -> str:
    import textwrap

    return "\n".join(textwrap.wrap(_cut(name), line)) or name
