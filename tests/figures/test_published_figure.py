"""The figure of a published experiment: what its caption says of power, and which of code and text a panel follows."""

import pandas as pd
import pytest

from befrl.analysis import published as tables
from befrl.figures import published


@pytest.fixture
def read():
    """Two agents on one instance: the second leaves uniform play between the two episodes."""
    common = {"source": "ayoub", "instance": "river", "follows": "code", "seeds": 4, "role": "set", "unit": "reward"}
    agents = {"first": ("ucrl-vtr", "no", "no"), "second": ("uc-matrixrl", "no", "yes")}
    values = [
        {
            **common,
            "quantity": "regret",
            "algorithm": algorithm,
            "variant": name,
            "episode": k,
            "told_from_uniform": told,
        }
        for name, (algorithm, *verdicts) in agents.items()
        for k, told in zip((10, 20), verdicts, strict=True)
    ]
    curves = [
        {**common, "quantity": "cumulative regret", "algorithm": algorithm, "variant": name, "episode": k}
        | {"ours": 2.0 * k, "low": k, "high": 3.0 * k}
        for name, (algorithm, *_) in agents.items()
        for k in (1, 10, 20)
    ]
    found = {"values": values, "curves": curves}
    return [{name: pd.DataFrame(rows, columns=list(tables.COLUMNS)) for name, rows in found.items()}]


def test_the_caption_names_those_that_are_not_told_from_uniform_play_in_the_end(read):
    caption = published.describe(read)["caption"]
    assert "Not told from uniform play, which lies within their interval: first on river. " in caption
    read[0]["values"]["told_from_uniform"] = "yes"
    assert "Not told" not in published.describe(read)["caption"]


def test_the_caption_says_how_far_curves_are_from_the_authors_numbers(read):
    values = read[0]["values"]
    assert "Stars" not in published.describe(read)["caption"]
    values["authors"], values["deviation"] = 100.0, [0.01, -0.04, 0.02, 0.03]
    values["follows"] = ["code", "code", "text", "text"]
    caption = published.describe(read)["caption"]
    assert (
        "Stars: the authors' numbers, from which curves deviate by up to 4% as the code and 3% as the text. " in caption
    )


def test_a_panel_says_which_of_code_and_text_it_follows(read):
    assert published.draw(read).axes[0].get_title() == "river, as the code"
    read[0]["curves"]["follows"] = float("nan")
    assert published.draw(read).axes[0].get_title() == "river"
