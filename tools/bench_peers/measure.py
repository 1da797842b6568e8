"""Compare the speed of befrl with rlberry-scool and with a naive BEF-RLSVI on one MDP (`make bench-peers`).

python tools/bench_peers/measure.py --out results/timings/peers.csv     measure, write the table and print the page
python tools/bench_peers/measure.py --page results/timings/peers.csv    print the page docs/peers.md of a table

The MDP is the chain with 8 bins and 40 steps. The peers play it through `befrl.gym`, one seed at a time. Those of
rlberry-scool observe the bin of the state, since they need finitely many states. befrl runs 1, 50 and 480 rows in lock
step. All seconds are processor time.
"""

import argparse
import logging
import time
from functools import partial
from importlib import metadata
from pathlib import Path

import gymnasium
import numpy as np
import pandas as pd
from naive_bef_rlsvi import NaiveBefRlsvi

from befrl import instances
from befrl.analysis.benchmark import markdown
from befrl.common import storage, tidy
from befrl.common.streams import AGENT_NORMAL, Stream
from befrl.experiment import loop
from befrl.experiment.environment import Environment
from befrl.experiment.spec import ROOT_SEED, RunSpec
from befrl.gym import BefEnv

NAME, FAMILY, VALUES = "chain-8", "chain", {"bins": 8, "horizon": 40}
EPISODES, ROWS = 100, (1, 50, 480)
X = 3.0
# The shortest of REPEATS runs counts; a run of more than LONG seconds is not repeated.
REPEATS, LONG = 3, 20.0
# Episodes over which the naive BEF-RLSVI must plan the same values as befrl's, up to the tolerance of Newton's method.
CHECKED, TOLERANCE = 30, 1e-8
COLUMNS = {
    "algorithm": "the algorithm",
    "peer": "the other implementation",
    "peer_speed": "its steps per second, one seed, over the first episodes",
    "growth": "seconds of its last quarter of the episodes over those of its first quarter",
    "environment": "share of its seconds that random play in the same environment takes",
    "rows": "number of seeds that befrl runs in lock step",
    "befrl_speed": "befrl's steps per second over the same episodes, all rows together",
    "ratio": "befrl_speed over peer_speed",
    "episodes": "number of episodes per seed",
    "difference": "largest difference between the values that peer and befrl plan with, where they must be the same",
}


class Chain(BefEnv):
    """The chain as a Gymnasium environment that records when its episodes start."""

    def __init__(self):
        super().__init__(FAMILY, name=NAME, **VALUES)
        self.stamps = []

    def reset(self, **options):
        self.stamps.append(time.process_time())
        return super().reset(**options)


class Cells(gymnasium.ObservationWrapper):
    """The chain with the bin of the state as observation, in spaces of the class `discrete`."""

    def __init__(self, env, discrete=gymnasium.spaces.Discrete):
        super().__init__(env)
        self.space = env.instance.model.space
        self.observation_space = discrete(self.space.n_cells)
        self.action_space = discrete(env.action_space.n)

    def observation(self, observation):
        return int(self.space.cell(observation)[0])


def shortest(make):
    """The seconds of the shortest run of the function that `make()` returns."""
    least = np.inf
    for _ in range(REPEATS):
        work, start = make(), time.process_time()
        work()
        least = min(least, time.process_time() - start)
        if least > LONG:
            break
    return least


def random_play(env, episodes):
    """Uniformly random actions."""
    cells, rng = Cells(env), np.random.default_rng(0)

    def work():
        for _ in range(episodes):
            cells.reset()
            for action in rng.integers(0, cells.action_space.n, VALUES["horizon"]):
                cells.step(action)

    return work


def scool(algorithm, env, episodes):
    """The training of an agent of rlberry-scool, with features and ridge as in befrl and no discount."""
    import rlberry
    from rlberry.spaces import Discrete
    from rlberry_scool.agents import LSVIUCBAgent, UCBVIAgent
    from rlberry_scool.agents.features import FeatureMap

    class OneHot(FeatureMap):
        def __init__(self, env):
            self.shape = (env.observation_space.n * env.action_space.n,)
            self.table = np.eye(*self.shape).reshape(env.observation_space.n, env.action_space.n, -1)

        def map(self, observation, action):
            return self.table[observation, action]

    # Both libraries warn on stderr: of missing methods, and that the range of rewards is taken to be 1, which it is.
    rlberry.logger.setLevel(logging.ERROR)
    gymnasium.logger.set_level(logging.ERROR)
    cells, H = Cells(env, Discrete), VALUES["horizon"]
    if algorithm == "lsvi-ucb":
        agent = LSVIUCBAgent(cells, H, OneHot, gamma=1.0, reg_factor=1.0, seeder=0, copy_env=False)
    else:
        agent = UCBVIAgent(cells, gamma=1.0, horizon=H, seeder=0, copy_env=False)
    return lambda: agent.fit(episodes)


def naive_agent(instance, seed):
    """The naive BEF-RLSVI with the random numbers that befrl's has for a seed."""
    normals = Stream(ROOT_SEED, NAME, [seed], AGENT_NORMAL)
    constants = (instance.parameters["sigma"], instance.constants["alpha_p"], X)
    return NaiveBefRlsvi(VALUES["bins"], VALUES["horizon"], *constants, lambda d: normals.take(d)[0])


def naive(instance, env, episodes, seed=0):
    """A run of the naive BEF-RLSVI."""
    agent = naive_agent(instance, seed)
    return lambda: [agent.episode(env, None if k else seed) for k in range(episodes)]


def disagreement(instance, episodes, seed=0):
    """The largest difference of V_1 between the naive BEF-RLSVI and befrl's; infinite if they act differently."""
    spec = RunSpec.of(instance, NAME, "bef-rlsvi", {"x": X}, episodes, [seed])
    ours, environment = loop.make_agent(spec), Environment(instance, ROOT_SEED, NAME, [seed])
    peer, chain, largest = naive_agent(instance, seed), Chain(), 0.0
    for k in range(episodes):
        plan, (V, actions) = ours.plan(k), peer.episode(chain, None if k else seed)
        trajectory = environment.rollout(ours, plan.policy)
        if not np.array_equal(trajectory.actions[0], actions):
            return np.inf
        largest = max(largest, float(np.abs(plan.values[0] - V).max()))
        ours.update(trajectory)
    return largest


def measure():
    """The rows of the table: every peer against befrl."""
    instance = instances.build(FAMILY, VALUES)
    difference = disagreement(instance, CHECKED)
    if difference > TOLERANCE:
        raise SystemExit(f"the naive BEF-RLSVI and befrl's are not the same: their values differ by {difference:.1e}")
    version = f"rlberry-scool {metadata.version('rlberry-scool')}"
    contests = (
        ("lsvi-ucb", {"share": "steps"}, version, partial(scool, "lsvi-ucb"), np.nan),
        ("ucbvi", {}, version, partial(scool, "ucbvi"), np.nan),
        ("bef-rlsvi", {"x": X}, "naive, all history", partial(naive, instance), difference),
    )
    steps, table = EPISODES * instance.horizon, []
    playing = shortest(lambda: random_play(Chain(), EPISODES))
    for algorithm, values, peer, make, difference in contests:
        env = Chain()
        taken = shortest(partial(make, env, EPISODES))
        theirs = (peer, steps / taken, growth(env.stamps[-EPISODES:]), playing / taken)
        for rows in ROWS:
            spec = RunSpec.of(instance, NAME, algorithm, values, EPISODES, range(rows))
            speed = rows * steps / shortest(lambda spec=spec: partial(loop.run, spec))
            measured = (algorithm, *theirs, rows, speed, speed * taken / steps, EPISODES, difference)
            table.append(dict(zip(COLUMNS, measured, strict=True)))
    return table


def growth(stamps):
    """Seconds of the last quarter of the episodes over those of the first, from the starts of the episodes."""
    episodes = np.diff(stamps)
    quarter = len(stamps) // 4
    return episodes[-quarter:].sum() / episodes[:quarter].sum()


def rounded(value):
    """Two significant digits."""
    return f"{float(f'{value:.2g}'):,.0f}" if value >= 10 else f"{value:.2g}"


def page(table):
    """The page `docs/peers.md` of a table: ratios only, since speeds depend on the machine."""
    contests = table.drop_duplicates("algorithm")
    columns = {name: [str(value) for value in contests[name]] for name in ("algorithm", "peer")}
    for rows, part in table.groupby("rows"):
        columns[f"befrl, {rows} row{'s' * (rows > 1)}"] = [rounded(ratio) for ratio in part["ratio"]]
    columns["growth"] = [rounded(value) for value in contests["growth"]]
    columns["environment"] = [f"{share:.0%}" for share in contests["environment"]]
    episodes, difference = table["episodes"].max(), table["difference"].max()
    return f"""# Against other implementations

befrl's steps per second over those of another implementation, on one core, over the first {episodes} episodes of
`{NAME}`. Measured by `make bench-peers`, all in one run and in processor time; this page is made from its table by
`tools/bench_peers/measure.py --page`.

{markdown(columns)}

The peers play the same MDP through `befrl.gym`, one seed at a time. *growth* is the time of their last quarter of the
episodes over that of the first: where it is large, as for implementations that go through all history, longer runs
would give larger ratios (`make bench` measures that of befrl's BEF-RLSVI). *environment* is the share of their time
that random play in the environment takes. befrl's time includes exact regret and logging, which the peers do not have.
rlberry-scool's agents see the bin of the state, and its LSVI-UCB has the same one-hot features and ridge as befrl's;
bonuses and constants differ.

The naive BEF-RLSVI (`tools/bench_peers/naive_bef_rlsvi.py`) is Algorithm 1 of the paper with all transitions kept and
both estimates refitted to all of them by Newton's method after each episode. With the same random numbers it takes the
same actions as befrl's over {CHECKED} episodes, and its planned values differ by at most {difference:.0e}.
"""


def authors_section():
    """The section of the page on the code of Tiapkin et al., from `authors.csv`, which was measured by hand."""
    table = pd.read_csv(Path(__file__).with_name("authors.csv"))
    table["ratio"] = table["befrl_speed"] / table["peer_speed"]
    contests = table[["algorithm", "peer", "grid"]].drop_duplicates()
    columns = {name: [str(value) for value in contests[name]] for name in contests}
    ratios = table.set_index(["algorithm", "grid", "rows"])["ratio"]
    for rows in sorted(set(table["rows"].tolist())):
        found = [ratios.get((row.algorithm, row.grid, rows)) for row in contests.itertuples()]
        columns[f"befrl, {rows} row{'s' * (rows > 1)}"] = ["-" if ratio is None else rounded(ratio) for ratio in found]
    columns["grid"] = [f"{size} x {size}" for size in columns["grid"]]
    return f"""
## The code of Tiapkin et al.

The same ratios for the agents of `d-tiapkin/optimistic-psrl-experiments`, with its own configuration, on the grid
world of its experiments (H = 50), and on a smaller one. No target measures them, since that code and what it needs are
not part of this project.

{markdown(columns)}

The authors' agents ran in Python 3.8 with numba, compiled before the measurement, in the versions of rlberry that have
what they import; befrl in its own environment, without a compiler. Processor time of the shorter of two runs of 40 to
60 episodes (a tenth of that with several rows), one process at a time on a machine that did other work too: the ratios
are rough. befrl's UCBVI-BF has another bonus than theirs. On the large grid befrl gains little from more rows: an
earlier run with 50 rows was no faster per step than one row.

What is deterministic was compared as well. The transition probabilities of the two grid worlds differ by at most
2e-16. From the trajectories of 30 episodes of the authors' OPSRL both have the same pseudo-counts. With the draws of
transitions and rewards of its next plan in place of befrl's, the Q of all steps, states and actions differ by at most
3e-14; the fake state has the value H-h+1, so that r_0 is 1 in the code.
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--out", help="measure, and write this csv file")
    what.add_argument("--page", help="measure nothing: the csv file of an earlier run")
    args = parser.parse_args()
    if args.out:
        storage.write_text(args.out, tidy.text(measure(), COLUMNS))
    print(page(tidy.read(args.out or args.page, COLUMNS)) + authors_section(), end="")


if __name__ == "__main__":
    main()
