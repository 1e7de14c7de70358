"""Histograms as bar charts."""

from __future__ import annotations

import html
from collections.abc import Sequence

from .._core import number


def bars(labels: Sequence[str], value: Sequence[float], interval: Sequence[Sequence[float]]) -> str:
    """A bar for each count, with its interval."""
    row, plot, most = 24, 420, 28
    names = [name if len(name) <= most else f"{name[: most - 1]}…" for name in labels]
    left = 12 + 7 * max(map(len, names), default=0)
    low = min(0.0, *(ends[0] for ends in interval), *value)
    high = max(1.0, *(ends[1] for ends in interval), *value)
    height = row * len(names) + 12

    def at(count: float) -> float:
        return round(left + plot * (count - low) / (high - low), 2)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {left + plot + 90} {height}" '
        f'width="{left + plot + 90}" height="{height}" font-family="sans-serif" font-size="12" '
        'role="img" aria-label="private histogram">'
    ]
    for place, (name, own, (least, largest)) in enumerate(zip(names, value, interval, strict=True)):
        top = 6 + row * place
        middle, start, end = top + row / 2, min(at(0), at(own)), max(at(0), at(own))
        whisker = f"M{at(least)} {middle}H{at(largest)}"
        ticks = f"M{at(least)} {middle - 4}v8M{at(largest)} {middle - 4}v8"
        parts += [
            f'<text x="{left - 6}" y="{middle + 4}" text-anchor="end" fill="currentColor">'
            f"{html.escape(name)}</text>",
            f'<rect x="{start}" y="{top + 4}" width="{round(end - start, 2)}" height="{row - 8}" '
            'fill="#7aa6c2"/>',
            f'<path d="{whisker}{ticks}" stroke="currentColor" fill="none"/>',
            f'<text x="{at(max(largest, own)) + 6}" y="{middle + 4}" fill="currentColor">'
            f"{number(own, 6)}</text>",
        ]
    parts.append(f'<path d="M{at(0)} 2V{height - 2}" stroke="currentColor" stroke-opacity="0.5"/></svg>')
    return "".join(parts)
