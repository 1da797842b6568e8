"""Where a run is shown: a line that is redrawn on a terminal, plain lines at a modest rate elsewhere."""

import os

SECONDS_BETWEEN_LINES = 30.0
SHARE_BETWEEN_LINES = 0.1
CLEAR = "\r\x1b[K"


class Terminal:
    """One line that is redrawn in place; other text is printed above it."""

    def __init__(self, stream):
        self.stream = stream

    def show(self, in_words, share, now):
        """Redraw the line; in_words(width) is its text."""
        write(self.stream, CLEAR + in_words(self._width()))

    def say(self, text):
        write(self.stream, f"{CLEAR}{text}\n")

    def _width(self):
        try:
            columns = os.get_terminal_size(self.stream.fileno()).columns
        except OSError:
            columns = 0
        # The last column stays free: some terminals would start a new line there. Some do not know their size.
        return columns - 1 if columns > 1 else 79


class Lines:
    """A plain line for every tenth of the jobs, and every half minute in between."""

    def __init__(self, stream):
        self.stream = stream
        self.shown = None  # share and time of the last line

    def show(self, in_words, share, now):
        if self.shown is not None:
            last_share, last_time = self.shown
            tenths = int(share / SHARE_BETWEEN_LINES + 1e-9) - int(last_share / SHARE_BETWEEN_LINES + 1e-9)
            if tenths < 1 and now - last_time < SECONDS_BETWEEN_LINES:
                return
        self.shown = share, now
        self.say(in_words(None))

    def say(self, text):
        write(self.stream, f"{text}\n")


def screen(stream):
    moving = stream.isatty() and os.environ.get("TERM", "dumb") != "dumb"
    return Terminal(stream) if moving else Lines(stream)


def write(stream, text):
    try:
        stream.write(text)
        stream.flush()
    except BrokenPipeError:
        pass  # nobody reads any more, as after `| head`; the run goes on
