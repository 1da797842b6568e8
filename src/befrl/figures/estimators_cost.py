"""Cost of the estimators of theta: seconds of an update over the number of transitions."""

from befrl.figures.estimators import panels

SCOPE = "component"
SUBJECT = "estimators"
TABLES = {"timings": ("instance", "estimator", "transitions", "seconds")}


def draw(tables):
    return panels([table["timings"] for table in tables], "seconds", "seconds per update")


def describe(tables):
    return {
        "title": "Cost of the estimators of theta",
        "caption": (
            "Seconds of one update on one sample of random play, the median over several updates, against the number "
            "of transitions. Flat lines are estimators that keep sufficient statistics instead of the data."
        ),
        "seeds": None,
    }
