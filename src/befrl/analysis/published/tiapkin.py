"""Tiapkin et al. (NeurIPS 2022): OPSRL, PSRL and two forms of UCBVI on a 10 x 10 grid world."""

from befrl.analysis.published import curves_of, regret_rows

ABOUT = """\
Tiapkin et al. (NeurIPS 2022): OPSRL, PSRL and two forms of UCBVI on a 10 x 10 grid world.

The authors' numbers could not be read: their repository has neither results nor figures, so no number stands beside
ours and their order of the algorithms is not compared. Settings are those of their code and of rlberry 0.2.1. OPSRL has
eight draws and one pseudo-count, on a fake state that earns 1 per step; PSRL has 1/S pseudo-counts on every state.
Rewards, deterministic there, have a standard deviation of 0.1 here, and are unknown in both. Their posteriors of
rewards are Beta laws with a uniform prior; ours are normal, with the same prior mean and variance and the same
posterior mean for rewards of 0 and 1, but larger posterior variances. Their Hoeffding bonus is (H-h+1)/(2 sqrt N); ours
is H/(2 sqrt N) at all steps. Their Bernstein bonus is sqrt(Var/N) + (H-h+1)/N. Ours has a third term and other ratios
of constants: with H/N as its second term, it is 0.12 sqrt(Var/N) + H/N + 1.3/sqrt N. In their code the bonus of (s,a)
at step h changes only when (s,a) is visited at this step, although counts are shared by all steps; it stays at H-h+1
until then. Ours changes at all steps. Our Q never grows from one episode to the next, theirs may. They break ties
towards the first action; ours are broken at random. Their regret counts collected rewards, ours expected ones. RLSVI,
their fifth algorithm, is not run. The scales of the bonuses are those of 10,000 episodes, which make them at most 10 %
smaller in a run of 1,000.
"""
CITATION = (
    "Tiapkin et al., Optimistic posterior sampling for reinforcement learning with few samples and tight guarantees, "
    "NeurIPS 2022, by the code d-tiapkin/optimistic-psrl-experiments on GitHub, experiment opsrl_vs_baselines: grid "
    "world of rlberry with 10 rows and columns, H = 50, 10,000 episodes, four runs (rlberry's default); the authors' "
    "numbers could not be read"
)
TRACK = "U"
EXPERIMENTS = {"baselines": "cumulative regret over up to 10,000 episodes, as the authors' code runs"}
EPISODES = 10_000
AT = (500, 1_000, 2_000, 5_000, 10_000)
ALGORITHMS = ("opsrl", "psrl", "ucbvi", "ucbvi-bf")
RUNS = 4


def values(experiment, rerun):
    """The optimal value, and the regret of each variant and of uniform play at some episodes."""
    return regret_rows(rerun, AT)


def curves(experiment, rerun):
    """Cumulative regret."""
    return curves_of(rerun, "regret")
