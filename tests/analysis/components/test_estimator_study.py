"""The comparison of estimators: what is in its table."""

import numpy as np

from befrl.analysis.components import estimators as component
from befrl.learning import estimators
from helpers import instance


def test_a_row_for_each_estimator_size_and_repetition_and_the_same_numbers_again():
    problem = instance("literal", bins=3)
    rows = component.study("literal-3", problem, 3, sizes=[30, 200, 500], repetitions=4)
    again = component.study("literal-3", problem, 3, sizes=[30, 200, 500], repetitions=4)
    fitted = [name for name in estimators.catalogue.names() if name != "gaussian"]
    keys = [(row["estimator"], row["transitions"], row["repetition"]) for row in rows]
    assert sorted(keys) == sorted((name, n, i) for name in fitted for n in (100, 200, 500) for i in range(4))
    assert set(rows[0]) == set(component.COLUMNS)
    assert all(row["seconds"] > 0 for row in rows)
    timeless = [[{k: v for k, v in row.items() if k != "seconds"} for row in table] for table in (rows, again)]
    assert timeless[0] == timeless[1]
    for name in ("mle", "score-matching"):
        mean = {
            n: np.mean([row["kl"] for row in rows if row["estimator"] == name and row["transitions"] == n])
            for n in (100, 500)
        }
        assert 0 < mean[500] < mean[100]
