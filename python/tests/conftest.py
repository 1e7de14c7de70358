"""Settings of all tests."""

from __future__ import annotations

import signal

# A process that was started in the background may ignore SIGINT, and so would Python: tests of Ctrl-C need it.
signal.signal(signal.SIGINT, signal.default_int_handler)
