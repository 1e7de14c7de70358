"""Names of Opacus for parts of :mod:`reticent.torch`."""
