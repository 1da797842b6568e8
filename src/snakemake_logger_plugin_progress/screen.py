"""The output of a run: a line that is redrawn on a terminal, plain lines at a modest rate elsewhere."""

import contextlib
import os

SECONDS_BETWEEN_LINES = 30.0
SHARE_BETWEEN_LINES = 0.1
CLEAR = "\r\x1b[K"


class Screen:
    """Shows a line, redrawn in place on a terminal, and prints text above it."""

    def __init__(self, stream):
        self.stream = stream
        self.terminal = stream.isatty() and os.environ.get("TERM", "dumb") != "dumb"
        self.shown = -1.0, float("-inf")  # share and time of the last plain line

    def show(self, line, share, now):
        """Show line(width); not on a terminal, only after a tenth of the jobs or half a minute."""
        if self.terminal:
            self.write(CLEAR + line(self._width()))
            return
        last_share, last_time = self.shown
        tenths = [int(x / SHARE_BETWEEN_LINES + 1e-9) for x in (share, last_share)]
        if tenths[0] > tenths[1] or now - last_time >= SECONDS_BETWEEN_LINES:
            self.shown = share, now
            self.say(line(None))

    def say(self, text):
        self.write(f"{CLEAR if self.terminal else ''}{text}\n")

    def write(self, text):
        with contextlib.suppress(BrokenPipeError):  # nobody reads, as after `| head`; the run continues
            self.stream.write(text)
            self.stream.flush()

    def _width(self):
        """The columns of the terminal without the last, after which some terminals start a new line."""
        try:
            columns = os.get_terminal_size(self.stream.fileno()).columns
        except OSError:
            columns = 0
        return columns - 1 if columns > 1 else 79
