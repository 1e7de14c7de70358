"""Simple charts, as SVG or on the axes of matplotlib."""

from __future__ import annotations

import html
import math
from typing import Any, ClassVar


class Curve:
    """A curve with its name."""

    def __init__(self, name: str, points: list[tuple[float, float]], dashed: bool = False) -> None:
        self.name = name
        self.points = points
        self.dashed = dashed


class Chart:
    """Curves on two axes, as SVG or on the axes of matplotlib."""

    _COLORS: ClassVar[tuple[str, ...]] = ("#1f5fa8", "#c2571a", "#3a7d44")

    def __init__(
        self,
        title: str,
        x: str,
        y: str,
        curves: list[Curve],
        limits: tuple[tuple[float, float], tuple[float, float]],
    ) -> None:
        self.title = title
        self.x = x
        self.y = y
        self.curves = curves
        self.limits = limits

    def _color(self, place: int) -> str:
        return "#888888" if self.curves[place].dashed else self._COLORS[place % len(self._COLORS)]

    def svg(self, width: int = 480, height: int = 360) -> str:
        """The chart as SVG."""
        left, right, top, bottom = 56, 12, 28, 44
        (x0, x1), (y0, y1) = self.limits

        def at(point: tuple[float, float]) -> tuple[float, float]:
            across = left + (point[0] - x0) / (x1 - x0) * (width - left - right)
            return across, height - bottom - (point[1] - y0) / (y1 - y0) * (height - top - bottom)

        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}" role="img" font-family="sans-serif" font-size="12">',
            f"<title>{html.escape(self.title)}</title>",
            f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
            f'<text x="{width / 2:g}" y="18" text-anchor="middle" font-size="14">'
            f"{html.escape(self.title)}</text>",
        ]
        for value in _ticks(x0, x1):
            across, down = at((value, y0))
            parts.append(_line(across, top, across, down))
            parts.append(f'<text x="{across:.1f}" y="{down + 16:.1f}" text-anchor="middle">{value:g}</text>')
        for value in _ticks(y0, y1):
            across, down = at((x0, value))
            parts.append(_line(across, down, width - right, down))
            parts.append(f'<text x="{across - 6:.1f}" y="{down + 4:.1f}" text-anchor="end">{value:g}</text>')
        parts.append(
            f'<text x="{(width + left) / 2:g}" y="{height - 8}" text-anchor="middle">'
            f"{html.escape(self.x)}</text>"
            f'<text transform="translate(14 {height / 2:g}) rotate(-90)" text-anchor="middle">'
            f"{html.escape(self.y)}</text>"
        )
        for place, curve in enumerate(self.curves):
            points = " ".join(f"{across:.1f},{down:.1f}" for across, down in map(at, curve.points))
            dashes = ' stroke-dasharray="5 4"' if curve.dashed else ""
            color = self._color(place)
            parts.append(
                f'<polyline points="{points}" fill="none" stroke="{color}" stroke-width="2"{dashes}/>'
            )
            parts.append(
                f'<text x="{width - right - 8}" y="{top + 16 + 16 * place}" text-anchor="end" fill="{color}">'
                f"{html.escape(curve.name)}</text>"
            )
        return "\n".join([*parts, "</svg>"])

    def draw(self, ax: Any) -> Any:
        """The chart on the axes of matplotlib."""
        for place, curve in enumerate(self.curves):
            across, up = zip(*curve.points)
            style = "--" if curve.dashed else "-"
            ax.plot(across, up, style, color=self._color(place), label=curve.name)
        ax.set(title=self.title, xlabel=self.x, ylabel=self.y, xlim=self.limits[0], ylim=self.limits[1])
        ax.legend()
        return ax


def _line(x1: float, y1: float, x2: float, y2: float) -> str:
    """A line of the grid."""
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="#dddddd"/>'


def _ticks(low: float, high: float) -> list[float]:
    """About five round numbers from the low to the high end."""
    rough = (high - low) / 5
    unit = 10.0 ** math.floor(math.log10(rough))
    step = unit * next(factor for factor in (1, 2, 5, 10) if factor * unit >= 0.999 * rough)
    first = math.ceil(low / step - 1e-9)
    return [place * step for place in range(first, math.floor(high / step + 1e-9) + 1)]
