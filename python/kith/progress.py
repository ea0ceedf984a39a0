"""A line on standard error with the present step; nothing where standard error is no terminal."""

import sys
import time


class Progress:
    """Called with the present step, and the share that is done (0 to 1) or None."""

    def __init__(self, stream=None):
        self.stream = stream or sys.stderr
        self.shown = 0.0
        self.what = ""
        self.on = self.stream.isatty()

    def __call__(self, what, share=None):
        now = time.monotonic()
        if not self.on or (what == self.what and now - self.shown < 0.1):
            return
        self.shown, self.what = now, what
        self.stream.write(f"\r\x1b[K{what}" + ("" if share is None else f" {share:.0%}"))
        self.stream.flush()

    def clear(self):
        if self.on and self.what:
            self.stream.write("\r\x1b[K")
            self.stream.flush()
        self.what = ""
