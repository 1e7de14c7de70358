"""Images in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._arguments import refused
from .._refusals import one_of
from .labels import array_of

if TYPE_CHECKING:
    from numpy.typing import NDArray


def pixels_of(
    X: Any, argument: str, channels: str | None = None, shape: tuple[int, ...] | None = None
) -> NDArray[np.uint8]:
    """Images as (n, channels, height, width). ``shape`` is that of one image if it is known."""
    array = array_of(X, argument)
    if array.ndim not in (3, 4):
        remedy = "give (n, height, width), (n, height, width, channels) or (n, channels, height, width)"
        raise refused(104, argument, f"images have 3 or 4 dimensions, not {array.ndim}", remedy)
    if array.dtype != np.uint8:
        remedy = "give pixels from 0 to 255 as uint8; `shift` and `scale` normalize them"
        raise refused(309, argument, f"images of type {array.dtype}", remedy, str(array.dtype))
    if 0 in array.shape:
        raise refused(308, argument, f"an array of shape {array.shape} has no images", "give images")
    if channels is not None:
        one_of("channels", channels, ("first", "last"))
    if array.ndim == 3:
        array = array[:, None]
    elif (channels or _place(array.shape[1:], shape)) == "last":
        array = np.moveaxis(array, 3, 1)
    return np.ascontiguousarray(array)


def _place(sizes: tuple[int, ...], shape: tuple[int, ...] | None) -> str:
    """Where the channels are: where the known shape has them, otherwise where there are 1, 3 or 4."""
    turned = (sizes[2], sizes[0], sizes[1])
    fits = [
        place
        for place, own in (("first", sizes), ("last", turned))
        if (own == shape if shape else own[0] in (1, 3, 4))
    ]
    if len(fits) == 1:
        return fits[0]
    if (shape and not fits) or (not shape and sizes[0] == sizes[2] == 1):
        # The library refuses another shape. Of one channel and one column, the pixels have the same order.
        return "first"
    problem = f"either dimension of images of shape {sizes} may be the channels"
    if not fits:
        problem = f"images of shape {sizes} have neither 1, 3 nor 4 channels"
    raise refused(102, "channels", problem, 'give channels="first" or channels="last"')
