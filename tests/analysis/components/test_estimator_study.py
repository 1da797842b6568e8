"""The comparison of estimators: what is in its table."""

import numpy as np

from befrl.analysis.components import estimators as component
from befrl.learning import estimators
from helpers import instance

SIZES = (100, 200, 500)


def study():
    return component.study("literal-3", instance("literal", bins=3), 3, sizes=[30, 200, 500], repetitions=4)


def test_a_row_for_each_estimator_size_and_repetition_and_the_same_numbers_again():
    tables, again = study(), study()
    fitted = [name for name in estimators.registry.names() if name != "gaussian"]
    keys = [(row["estimator"], row["transitions"], row["repetition"]) for row in tables["points"]]
    assert sorted(keys) == sorted((name, n, i) for name in fitted for n in SIZES for i in range(4))
    for name in ("points", "medians"):
        assert tables[name] == again[name]
    for name in ("mle", "score-matching"):
        mean = {
            n: np.mean([row["kl"] for row in tables["points"] if (row["estimator"], row["transitions"]) == (name, n)])
            for n in (100, 500)
        }
        assert 0 < mean[500] < mean[100]


def test_medians_and_seconds_are_there_for_each_estimator_and_size():
    tables = study()
    keys = list(dict.fromkeys((row["estimator"], row["transitions"]) for row in tables["points"]))
    for table in ("medians", "timings"):
        assert [(row["estimator"], row["transitions"]) for row in tables[table]] == keys
    assert all(row["seconds"] > 0 for row in tables["timings"])
    for row, key in zip(tables["medians"], keys, strict=True):
        own = [point for point in tables["points"] if (point["estimator"], point["transitions"]) == key]
        assert row["repetitions"] == len(own) == 4
        for name in ("kl", "error"):
            values = [point[name] for point in own]
            assert row[name] == np.median(values)
            assert [row[f"{name}_low"], row[f"{name}_high"]] == list(np.quantile(values, [0.1, 0.9]))
