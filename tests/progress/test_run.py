"""The time left and the line, on a clock that the test sets."""

import io

import pytest

from snakemake_logger_plugin_progress import seconds
from snakemake_logger_plugin_progress.run import WEIGHT_OF_EXPECTATION, Job, Run, clock, in_words
from snakemake_logger_plugin_progress.screen import CLEAR, Lines, Terminal


def started(run, number, rule, now):
    run.start(number, Job(rule, f"{rule} {number}", f"{rule}/{number}", now))


def test_rules_of_unequal_length_are_not_taken_for_equal():
    """One of four long jobs and all six short ones done: in proportion to jobs 3/7 of the time would be left."""
    run = Run({"long": 4, "short": 6})
    now = 0.0
    for number, rule in enumerate(["long"] + 6 * ["short"]):
        started(run, number, rule, now)
        now += 100.0 if rule == "long" else 1.0
        run.finish(number, now)
    assert (run.done, run.total) == (7, 10)
    assert run.time_left(now) == pytest.approx(300.0)


def test_the_time_left_is_that_of_an_exact_table_from_the_first_job_to_the_last():
    """Two jobs side by side, as in the earlier run: the estimate is the truth all the time."""
    lengths = {("a", f"a/{n}"): 10.0 for n in range(4)} | {("b", f"b/{n}"): 30.0 for n in range(4)}
    run, now = Run({"a": 4, "b": 4}, lengths), 0.0
    for rule, length in (("a", 10.0), ("b", 30.0)):
        for first in (0, 2):
            for n in (first, first + 1):
                run.start((rule, n), Job(rule, rule, f"{rule}/{n}", now))
            assert run.time_left(now) == pytest.approx(80.0 - now)
            assert run.time_left(now + length / 2) == pytest.approx(80.0 - now - length / 2)
            now += length
            for n in (first, first + 1):
                run.finish((rule, n), now)
    assert (now, run.time_left(now)) == (80.0, 0.0)


def test_a_slower_machine_stretches_the_table():
    """Jobs take three times as long as elsewhere: the pace approaches 3 and bends to the table only by its weight."""
    table = {("a", f"a/{n}"): 100.0 for n in range(10)}
    run = Run({"a": 10}, table)
    for n in range(5):
        started(run, n, "a", 300.0 * n)
        run.finish(n, 300.0 * (n + 1))
    pace = (1500.0 + WEIGHT_OF_EXPECTATION) / (500.0 + WEIGHT_OF_EXPECTATION)
    assert run.time_left(1500.0) == pytest.approx(5 * 100.0 * pace)
    assert 2.9 < pace < 3.0


def test_at_the_end_the_longest_job_decides():
    run = Run({"a": 3}, {("a", "a/0"): 1000.0, ("a", "a/1"): 10.0, ("a", "a/2"): 10.0})
    for n in range(3):
        started(run, n, "a", 0.0)
    assert run.time_left(0.0) == pytest.approx(1000.0)


def test_nothing_known_is_not_zero():
    run = Run({"long": 5, "short": 1})
    assert run.time_left(0.0) is None
    started(run, 0, "short", 0.0)
    run.finish(0, 1.0)
    started(run, 1, "long", 1.0)
    # Of four waiting jobs none has an example.
    assert run.time_left(5.0) is None and "time left not known yet" in in_words(run, 5.0)
    run.finish(1, 21.0)
    assert run.time_left(21.0) == pytest.approx(80.0)


def test_a_last_job_of_unknown_length_is_taken_for_a_mean_one():
    run = Run({"a": 3, "report": 1})
    for n in range(3):
        started(run, n, "a", 20.0 * n)
        run.finish(n, 20.0 * (n + 1))
    assert run.time_left(60.0) == pytest.approx(20.0)


def test_a_failure_is_told_once():
    run = Run({"a": 2})
    started(run, 0, "a", 0.0)
    assert run.fail(0).name == "a 0" and run.fail(0) is None
    assert in_words(run, 7.0) == "0/2 jobs | 1 FAILED | 0:07 elapsed"


def test_the_line_is_cut_to_the_width():
    run = Run({"a": 9}, {("a", f"a/{n}"): 60.0 for n in range(9)})
    for n in range(9):
        started(run, n, "a", 0.0)
    whole = in_words(run, 5.0)
    assert whole == "0/9 jobs | 0:05 elapsed | about 0:55 left | now " + ", ".join(f"a {n}" for n in range(9))
    assert in_words(run, 5.0, width=40) == whole[:37] + "..."


@pytest.mark.parametrize(("given", "text"), [(0.4, "0:00"), (59.6, "1:00"), (754, "12:34"), (3723, "1:02:03")])
def test_durations(given, text):
    assert clock(given) == text


def test_elsewhere_than_on_a_terminal_there_is_a_line_for_a_tenth_or_for_half_a_minute():
    stream = io.StringIO()
    lines = Lines(stream)
    for n in range(101):  # a job a second
        lines.show(lambda width, n=n: f"{n}", n / 100, float(n))
    assert stream.getvalue().split() == [str(n) for n in range(0, 101, 10)]
    for n in range(100):  # and then nothing for 100 seconds
        lines.show(lambda width, n=n: f"+{n}", 1.0, 100.0 + n)
    assert stream.getvalue().split()[11:] == ["+30", "+60", "+90"]


def test_on_a_terminal_text_goes_above_the_line():
    stream = io.StringIO()
    terminal = Terminal(stream)
    terminal.show(lambda width: "line", 0.0, 0.0)
    terminal.say("text")
    terminal.show(lambda width: "line again", 0.0, 0.0)
    assert stream.getvalue() == f"{CLEAR}line{CLEAR}text\n{CLEAR}line again"


def test_seconds_are_read_back_and_a_damaged_table_is_none(tmp_path):
    path = tmp_path / "new" / "study.csv"
    table = {("run", "a,b/c.npz"): 12.5, ("all", "all"): 0.0}
    assert seconds.read(path) == {}
    seconds.write(path, table)
    assert seconds.read(path) == table
    path.write_text(path.read_text().replace("12.5", "soon"))
    assert seconds.read(path) == {}
