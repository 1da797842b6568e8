"""Cost of the estimators of theta: seconds of an update over the number of transitions."""

from befrl.figures.estimators import panels

SCOPE = "component"
SUBJECT = "estimators"
TABLES = {"timings": ("instance", "estimator", "transitions", "seconds")}


def draw(tables):
    return panels([table["timings"] for table in tables], "seconds", "seconds per update")
