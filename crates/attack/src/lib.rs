//! Attacks on our own models.
