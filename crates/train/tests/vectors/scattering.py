"""Test vectors of the scattering transform, from its definition in NumPy.

    python scattering.py > scattering.json

An implementation of its own: filters on the plane, convolutions by full Fourier transforms in double precision, no shortcuts. With
the package kymatio installed, `python scattering.py --compare` prints the largest difference from its `Scattering2D`.
"""

import json
import sys

import numpy as np


def gabor(shape, width, angle, frequency, slant):
    """A periodized Gaussian times a plane wave."""
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    form = turn @ np.diag([1.0, slant**2]) @ turn.T / (2 * width**2)
    rows, columns = (np.arange(-2 * side, 3 * side, dtype=float) for side in shape)
    x, y = np.meshgrid(rows, columns, indexing="ij")
    envelope = np.exp(-(form[0, 0] * x * x + 2 * form[0, 1] * x * y + form[1, 1] * y * y))
    wave = envelope * np.exp(1j * frequency * (x * np.cos(angle) + y * np.sin(angle)))
    return wave.reshape(5, shape[0], 5, shape[1]).sum((0, 2)) * slant / (2 * np.pi * width**2)


def wavelet(shape, j, number, orientations):
    angle = (int(orientations / 2 - 1) - number) * np.pi / orientations
    width, frequency, slant = 0.8 * 2**j, 0.75 * np.pi / 2**j, 4 / orientations
    wave, envelope = (gabor(shape, width, angle, at, slant) for at in (frequency, 0.0))
    return np.fft.fft2(wave - wave.sum() / envelope.sum() * envelope).real


def coarse(spectrum, halvings):
    """The frequencies of a coarser grid."""
    for axis in (0, 1):
        side = spectrum.shape[axis]
        few = side >> halvings
        keep = np.r_[0 : few // 2, side - few // 2 : side]
        spectrum = np.take(spectrum, keep, axis)
    return spectrum


def scatter(image, scales=2, orientations=8):
    step = 2**scales
    padded = [((side + step) // step + 1) * step for side in image.shape]
    pads = [((p - s) // 2, p - s - (p - s) // 2) for p, s in zip(padded, image.shape)]
    x = np.pad(image, pads, mode="reflect")
    low = np.fft.fft2(gabor(padded, 0.8 * 2 ** (scales - 1), 0.0, 0.0, 1.0)).real
    bank = [[wavelet(padded, j, n, orientations) for n in range(orientations)] for j in range(scales)]

    def smooth(signal, level):
        found = np.fft.ifft2(np.fft.fft2(signal) * coarse(low, level)).real
        every = step >> level
        return found[every : -every or None : every, every : -every or None : every]

    def modulus(signal, level, j, number):
        found = np.abs(np.fft.ifft2(np.fft.fft2(signal) * coarse(bank[j][number], level)))
        return found[:: 2 ** (j - level), :: 2 ** (j - level)]

    first, second = [], []
    for j in range(scales):
        for n in range(orientations):
            one = modulus(x, 0, j, n)
            first.append(smooth(one, j))
            for above in range(j + 1, scales):
                second += [smooth(modulus(one, j, above, m), above) for m in range(orientations)]
    return np.stack([smooth(x, 0), *first, *second])


def picture(height, width):
    """A made-up image with edges, waves and no symmetry, of numbers that are exact in single precision."""
    y, x = np.mgrid[0:height, 0:width]
    waves = np.sin(0.7 * x + 0.3 * y) + np.cos(0.05 * x * y) + ((x - 5) ** 2 + (y - 7) ** 2 < 20)
    return np.round(waves * 64) / 64


CASES = [(16, 16, 2, 8), (28, 28, 2, 8), (13, 18, 2, 8), (16, 24, 3, 5), (9, 8, 1, 4)]


def main():
    if "--compare" in sys.argv:
        from kymatio.numpy import Scattering2D

        for height, width, scales, orientations in CASES:
            image = picture(height, width)
            theirs = Scattering2D(scales, (height, width), orientations)(image)
            ours = scatter(image, scales, orientations)
            print(height, width, scales, orientations, ours.shape, theirs.shape, np.abs(ours - theirs).max())
        return
    cases = []
    for height, width, scales, orientations in CASES:
        image = picture(height, width)
        found = scatter(image, scales, orientations)
        numbers = [float(f"{value:.8g}") for value in found.ravel()]
        shape = {"height": height, "width": width, "scales": scales, "orientations": orientations}
        # Every 7th number of what is large: enough to tell every path and place.
        every = 1 if len(numbers) < 2000 else 7
        cases.append({**shape, "image": image.ravel().tolist(), "shape": list(found.shape), "every": every, "features": numbers[::every]})
    print(json.dumps(cases))


if __name__ == "__main__":
    main()
