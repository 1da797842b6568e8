"""The comparison of estimators: what is in its table."""

import numpy as np

from befrl import estimation
from befrl.library import estimators
from helpers import instance


def test_a_row_for_each_estimator_size_and_repetition_and_the_same_numbers_again():
    problem = instance("literal", bins=3)
    rows = estimators.study("literal-3", problem, 3, sizes=[30, 200, 500], repetitions=4)
    again = estimators.study("literal-3", problem, 3, sizes=[30, 200, 500], repetitions=4)
    fitted = [name for name in estimation.catalogue.names() if name != "gaussian"]
    keys = [(row["estimator"], row["transitions"], row["repetition"]) for row in rows]
    assert sorted(keys) == sorted((name, n, i) for name in fitted for n in (100, 200, 500) for i in range(4))
    assert set(rows[0]) == set(estimators.COLUMNS)
    assert all(row["seconds"] > 0 for row in rows)
    timeless = [[{k: v for k, v in row.items() if k != "seconds"} for row in table] for table in (rows, again)]
    assert timeless[0] == timeless[1]
    for name in ("mle", "score-matching"):
        mean = {
            n: np.mean([row["kl"] for row in rows if row["estimator"] == name and row["transitions"] == n])
            for n in (100, 500)
        }
        assert 0 < mean[500] < mean[100]
