"""The comparison of estimators: rows of its tables, errors that fall, and medians of the repetitions."""

import numpy as np

from befrl.analysis.components import estimators as component
from befrl.learning import estimators
from helpers import instance


def test_every_estimator_and_size_has_errors_medians_and_seconds():
    tables = component.study("literal-3", instance("literal", bins=3), 3, sizes=[30, 200, 500], repetitions=4)
    fitted = [name for name in estimators.registry.names() if name != "gaussian"]
    points = {}
    for row in tables["points"]:
        points.setdefault((row["estimator"], row["transitions"]), []).append(row)
    assert sorted(points) == sorted((name, n) for name in fitted for n in (100, 200, 500))
    assert all([row["repetition"] for row in own] == [0, 1, 2, 3] for own in points.values())
    for name in ("mle", "score-matching"):
        early, late = (np.mean([row["kl"] for row in points[name, n]]) for n in (100, 500))
        assert 0 < late < early
    for table in ("medians", "timings"):
        assert [(row["estimator"], row["transitions"]) for row in tables[table]] == list(points)
    assert all(row["seconds"] > 0 for row in tables["timings"])
    for row, own in zip(tables["medians"], points.values(), strict=True):
        assert row["repetitions"] == 4
        for name in ("kl", "error"):
            values = [point[name] for point in own]
            expected = [np.median(values), *np.quantile(values, [0.1, 0.9])]
            assert [row[key] for key in (name, f"{name}_low", f"{name}_high")] == expected
