"""The time left and the line, on a clock that the test sets."""

import io

import pytest

from snakemake_logger_plugin_progress.run import PRIOR_SECONDS, Job, Run, clock, line, read_seconds, write_seconds
from snakemake_logger_plugin_progress.screen import CLEAR, Screen


def start(run, number, rule, now):
    run.start(number, Job(rule, f"{rule} {number}", f"{rule}/{number}", now))


def play(run, rules, lengths, now=0.0):
    """Jobs of the rules, one after the other; return the time of the last end."""
    for number, rule in enumerate(rules):
        start(run, number, rule, now)
        now += lengths[rule]
        run.finish(number, now)
    return now


def test_time_left_takes_the_mean_of_each_rule_and_of_all_jobs_for_an_unknown_rule():
    """One of four long jobs and six short ones done: in proportion to jobs 3/7 of the time would be left."""
    run = Run({"long": 4, "short": 6})
    now = play(run, ["long", *6 * ["short"]], {"long": 100.0, "short": 1.0})
    assert (run.done, run.total) == (7, 10)
    assert run.time_left(now) == pytest.approx(300.0)
    run = Run({"a": 3, "report": 1})
    assert run.time_left(play(run, 3 * ["a"], {"a": 20.0})) == pytest.approx(20.0)


def test_time_left_is_exact_if_jobs_take_as_long_as_before():
    """Two jobs in parallel, as in the earlier run; the later jobs of the rule are longer."""
    run, now = Run({"a": 8}, {("a", f"a/{n}"): 10.0 if n < 4 else 30.0 for n in range(8)}), 0.0
    for first, length in ((0, 10.0), (2, 10.0), (4, 30.0), (6, 30.0)):
        for n in (first, first + 1):
            start(run, n, "a", now)
        assert run.time_left(now) == pytest.approx(80.0 - now)
        assert run.time_left(now + length / 2) == pytest.approx(80.0 - now - length / 2)
        now += length
        for n in (first, first + 1):
            run.finish(n, now)
    assert (now, run.time_left(now)) == (80.0, 0.0)


def test_time_left_is_scaled_on_a_slower_machine():
    """Jobs take three times as long as elsewhere: the ratio approaches 3."""
    run = Run({"a": 10}, {("a", f"a/{n}"): 100.0 for n in range(10)})
    now = play(run, 5 * ["a"], {"a": 300.0})
    pace = (1500.0 + PRIOR_SECONDS) / (500.0 + PRIOR_SECONDS)
    assert run.time_left(now) == pytest.approx(5 * 100.0 * pace)
    assert 2.9 < pace < 3.0


def test_time_left_is_at_least_that_of_the_longest_job():
    run = Run({"a": 3}, {("a", "a/0"): 1000.0, ("a", "a/1"): 10.0, ("a", "a/2"): 10.0})
    for n in range(3):
        start(run, n, "a", 0.0)
    assert run.time_left(0.0) == pytest.approx(1000.0)


def test_time_left_is_unknown_until_half_of_the_jobs_have_an_example():
    run = Run({"long": 5, "short": 1})
    assert run.time_left(0.0) is None
    start(run, 0, "short", 0.0)
    run.finish(0, 1.0)
    start(run, 1, "long", 1.0)
    assert run.time_left(5.0) is None and "time left not known yet" in line(run, 5.0)
    run.finish(1, 21.0)
    assert run.time_left(21.0) == pytest.approx(80.0)


def test_line_has_failures_and_is_cut_to_the_width():
    run = Run({"a": 9}, {("a", f"a/{n}"): 60.0 for n in range(9)})
    for n in range(9):
        start(run, n, "a", 0.0)
    whole = line(run, 5.0)
    assert whole == "0/9 jobs | 0:05 elapsed | about 0:55 left | now " + ", ".join(f"a {n}" for n in range(9))
    assert line(run, 5.0, width=40) == whole[:37] + "..."
    run = Run({"a": 2})
    start(run, 0, "a", 0.0)
    assert run.fail(0).name == "a 0" and run.fail(0) is None
    assert line(run, 7.0) == "0/2 jobs | 1 FAILED | 0:07 elapsed"
    assert [clock(x) for x in (0.4, 59.6, 754, 3723)] == ["0:00", "1:00", "12:34", "1:02:03"]


def test_plain_lines_are_shown_after_a_tenth_of_the_jobs_or_half_a_minute():
    screen = Screen(io.StringIO())
    for n in range(101):  # a job a second
        screen.show(lambda width, n=n: f"{n}", n / 100, float(n))
    for n in range(100):  # and then nothing for 100 seconds
        screen.show(lambda width, n=n: f"+{n}", 1.0, 100.0 + n)
    assert screen.stream.getvalue().split() == [*map(str, range(0, 101, 10)), "+30", "+60", "+90"]


def test_text_is_printed_above_the_line_of_a_terminal(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    stream = io.StringIO()
    stream.isatty = lambda: True
    screen = Screen(stream)
    screen.show(lambda width: "line", 0.0, 0.0)
    screen.say("text")
    screen.show(lambda width: f"{width} wide", 0.0, 0.0)
    assert stream.getvalue() == f"{CLEAR}line{CLEAR}text\n{CLEAR}79 wide"


def test_table_of_seconds_is_read_as_written_and_empty_if_damaged(tmp_path):
    path, table = tmp_path / "new" / "study.csv", {("run", "a,b/c.npz"): 12.5, ("all", "all"): 0.0}
    assert read_seconds(path) == {}
    write_seconds(path, table)
    assert read_seconds(path) == table
    path.write_text(path.read_text().replace("12.5", "soon"))
    assert read_seconds(path) == {}
