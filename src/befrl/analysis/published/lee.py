"""Lee, Oh (ICLR 2025): EQO and other tabular algorithms on RiverSwim with 30 and 40 states."""

from befrl.analysis.published import curves_of, of, regret_rows
from befrl.common.errors import InputError

ABOUT = """\
Lee, Oh (ICLR 2025): EQO and other tabular algorithms on RiverSwim with 30 and 40 states.

Only the size of this experiment is the authors'. Their paper and their code could not be read. Their abstract says that
EQO outperforms existing algorithms in regret and in computation. Machine-written reviews of the paper in a public
repository name the instances, S = 30, H = 120 and S = 40, H = 160, and the algorithms: EQO, UCRL2, UCBVI-BF, EULER,
ORLC and MVP. Not known are the probabilities and rewards of their RiverSwim, the numbers of episodes and runs, the
constants of the algorithms, and all results. So no number stands beside ours, and the experiment can neither confirm
nor refute theirs. Here transitions are those of Osband et al. (2013), swimming left pays 5/1000, rewards have a
standard deviation of 0.1 and are unknown, and the number of episodes is ours. Constants are multiplied by a tuned
factor, with the same budget for all agents. Its ranges have four decades each, placed by a pilot run of 500 episodes
with five seeds that are not evaluated. A first tuning, with three seeds and 400 episodes, chose factors with which EQO
failed on two of ten evaluation seeds and UCBVI on seven. After that the budget was raised for all agents, once, to a
second rung of 20 seeds, the evaluation from 10 to 20 seeds, and the episodes were halved to pay for it. The first ten
evaluation seeds were therefore used before. Our ORLC has constants of its own, and those of our EQO are known from
reviews only. UCBVI with Hoeffding's bonus and PSRL are added; UCRL2, EULER and MVP are not run. The study has 30 states
only; the full study has both and is longer.
"""
CITATION = (
    "Lee and Oh, Minimax optimal reinforcement learning with quasi-optimism, ICLR 2025 and arXiv 2503.00810: abstract "
    "read; S, H and algorithms by machine-written reviews in a public repository; transitions, rewards, episodes, "
    "runs, constants and numbers could not be read"
)
TRACK = "U"
EXPERIMENTS = {"regret": "cumulative regret, and seconds over those of EQO"}
AT = (50, 100, 200, 500, 1_000)
ALGORITHMS = ("eqo", "ucbvi-bf", "orlc")  # those that the authors run, too
ADDED = ("ucbvi", "psrl")


def values(experiment, rerun):
    """The optimal value, and the regret of each variant and of uniform play at some episodes."""
    return regret_rows(rerun, AT)


def curves(experiment, rerun):
    """Cumulative regret."""
    return curves_of(rerun, "regret")


def timings(experiment, rerun):
    """Seconds over those of EQO, of which the authors write that it computes less than others."""
    rows = rerun.timed_variants()
    reference = next((row for row in rows if row["algorithm"] == "eqo"), None)
    if reference is None:
        raise InputError(f"published source 'lee': no agent on '{rerun.instance}' runs 'eqo', the reference")
    for row in rows:
        ratio = row["seconds_per_episode"] / reference["seconds_per_episode"]
        yield {**of(row), "quantity": "seconds over those of eqo", "ours": ratio, "unit": "ratio"}
