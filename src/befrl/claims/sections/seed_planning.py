"""bef-seed: upper and lower expectations over sets of laws, optimism and pessimism, and the gate."""

from types import SimpleNamespace

import numpy as np
from scipy.special import expit, log_softmax, softmax

from befrl.claims.toolbox.curvature import exp_rest
from befrl.claims.toolbox.search import search
from befrl.claims.toolbox.seed import SKIPPED, SPREAD, backward, bernstein


def kl_ball(rng, trials, two=2, edge="sup", linear=True, reachable=True, pinsker=False):
    """S04: Expectations over a ball of laws in divergence: the bound of Bernstein's form, and the dual.

    two        the factor of Var D under the root
    edge       'inf': the distance from PV to the least value, in place of the largest
    linear     False: without the linear term
    reachable  False: the largest value is that on the support of P
    pinsker    whether Pinsker's bound takes the place of both
    """

    def violation(case):
        ball = _extreme(case)
        top = ball.V[: -1 if not reachable else None].max()
        distance = top - ball.mean if edge == "sup" else ball.mean - ball.V.min()
        width = np.sqrt(two * ball.variance * ball.D) + (distance * ball.D if linear else 0)
        if pinsker:
            return float(ball.gain - np.sqrt(ball.D / 2))
        found = [ball.gain - width]
        for level in (ball.level, 1 + np.exp(np.clip(case["log_level"], -20, 7))):
            dual = level - np.exp(ball.p @ np.log(level - ball.V) - ball.D)
            found.append(ball.mean + ball.gain - dual)
        return float(max(found))

    never = {"logits": np.zeros(1), "V": np.zeros(1), "unseen": 0.5, "height": 1.0}
    rare, fair = ({"logits": np.array([0.0, x]), "V": np.arange(2.0), "unseen": 0.0, "height": 0.0} for x in (-12, 0))
    edges = [case | {"log_gap": gap, "log_level": 0.0} for case in (never, rare, fair) for gap in (-9.0, 0.0, 2.0)]
    return search(rng, trials, _draw_ball, violation, edges=edges)


def _draw_ball(rng):
    S = rng.integers(2, 6)
    unseen = float(rng.random() * rng.integers(2))
    case = {"logits": 3 * rng.standard_normal(S), "V": rng.standard_normal(S), "unseen": unseen}
    return case | {"height": rng.exponential(), "log_gap": rng.uniform(-12, 7), "log_level": rng.uniform(-12, 7)}


def _extreme(case):
    """The law Q of largest QV at its divergence from P: masses p/(level - V), or mass on a state that P does not reach.

    That state is the last one; its value is the largest. Values are scaled to [0, 1].
    """
    unseen, logs = min(abs(case["unseen"]), 0.999), log_softmax(np.asarray(case["logits"]))
    p = np.append(np.exp(logs), 0.0)
    V = np.append(case["V"], np.max(case["V"]) + (abs(case["height"]) if unseen else 0.0))
    V = (V - V.min()) / max(np.ptp(V), 1e-9)
    level = 1 + np.exp(np.clip(case["log_gap"], -20, 7))
    ratios = np.log1p(-unseen) + log_softmax(logs - np.log(level - V[:-1])) - logs
    mean = p @ V
    return SimpleNamespace(
        p=p, V=V, level=level, mean=mean, variance=p @ (V - mean) ** 2,
        gain=p[:-1] @ (np.expm1(ratios) * (V[:-1] - mean)) + unseen * (V[-1] - mean),
        D=p[:-1] @ exp_rest(ratios) + unseen,
    )  # fmt: skip


def ordered(rng, trials, absolute=True, ordering=True, alone=False, ties=False, distance=1):
    """S05: Expectations over an interval of laws whose states have an order.

    absolute  False: differences of V in place of its variation
    ordering  False: the variation is that along the numbers of the states
    alone     whether P+ takes the place of the mean of P+ and P-
    ties      whether the variation is that over all states of no larger psi
    distance  factor of the distance in total variation
    """

    def violation(case):
        psi, V = np.asarray(case["psi"], float), np.asarray(case["V"])
        low, width = case["low"], abs(case["width"])
        exponents = (
            np.multiply.outer([low, low + width, low + width * np.clip(case["share"], 0, 1)], psi) + case["base"]
        )
        if np.ptp(exponents, 1).max() > SPREAD:
            return SKIPPED
        minus, plus, law = softmax(exponents, axis=1)
        apart = np.abs(plus - minus).sum() / 2
        order = np.argsort(psi, kind="stable") if ordering else np.arange(len(psi))

        def bounds(V):
            steps = np.diff(V[order], prepend=V[order[0]])
            tv = np.empty(len(V))
            tv[order] = np.cumsum(np.abs(steps) if absolute else steps)
            if ties:
                tv = np.array([tv[psi <= each].max() for each in psi])
            centre = plus @ V if alone else (plus + minus) @ V / 2
            return centre + (plus - minus) @ tv / 2, centre + float(distance) * np.ptp(V) * apart

        first, second = bounds(V)
        rising = np.empty(len(V))
        rising[np.argsort(psi, kind="stable")] = np.sort(V)
        equal = abs(bounds(rising)[0] - plus @ rising)
        return float(max(law @ V - min(first, second), equal) / max(np.ptp(V), 1e-9))

    tied = {"psi": np.array([0, 0, 1]), "base": np.zeros(3), "V": np.array([1.0, 0.0, 0.0])}
    bump = {"psi": np.array([0, 1, 2]), "base": np.array([0.0, 10.0, 0.0]), "V": np.array([0.0, 1.0, 0.0])}
    edges = [tied | {"low": -1.0, "width": 2.0, "share": 0.0}, bump | {"low": -14.0, "width": 28.0, "share": 0.5}]
    return search(rng, trials, _draw_interval, violation, edges=edges)


def _draw_interval(rng):
    S = rng.integers(2, 7)
    psi = rng.integers(-2, 3, S) if rng.random() < 0.5 else rng.standard_normal(S)
    law = {"psi": psi, "base": 2 * rng.standard_normal(S), "V": rng.standard_normal(S)}
    return law | {"low": 2 * rng.normal(), "width": 10 ** rng.uniform(-1, 1), "share": rng.random()}


class Sets:
    """A finite MDP and sets of its rewards and next-state laws: balls around P^, or intervals. Arrays (S, A, ...)."""

    def __init__(self, case, mean=False, estimated=False, mirrored=False):
        self.mean, self.mirrored, self.H = mean, mirrored, int(case["H"])
        self.r = expit(case["r"])
        self.low, self.high = self.r * expit(case["below"]), self.r + (1 - self.r) * expit(case["above"])
        self.hat = self.low + expit(case["hat"]) * (self.high - self.low)
        self.most = self.hat if estimated else self.high
        logits, shift = np.asarray(case["logits"]), np.asarray(case["shift"])
        self.intervals = "psi" in case
        if self.intervals:
            psi = np.sort(case["psi"])
            ends = np.stack([0 * shift[..., 0], -np.abs(shift[..., 0]), np.abs(shift[..., 1])])
            self.P, self.minus, self.plus = softmax(logits + ends[..., None] * psi, axis=-1)
            self.estimate = (self.plus + self.minus) / 2
            self.tame = max(np.ptp(logits + end[..., None] * psi, axis=-1).max() for end in ends) <= SPREAD
        else:
            self.P, self.estimate = softmax(logits + shift, axis=-1), softmax(logits, axis=-1)
            ratios = log_softmax(logits + shift, axis=-1) - log_softmax(logits, axis=-1)
            self.D = (self.estimate * exp_rest(ratios)).sum(-1)
            self.tame = max(np.ptp(logits, axis=-1).max(), np.ptp(logits + shift, axis=-1).max()) <= SPREAD

    def width(self, V):
        """upper(V) - P^V, (S, A)."""
        mean = self.estimate @ V
        if self.mean:
            return 0 * mean
        if self.intervals:
            tv = np.append(0.0, np.abs(np.diff(V)).cumsum())
            change = self.plus - self.minus
            return np.minimum(V.max() - mean, np.minimum(change @ tv / 2, np.ptp(V) * np.abs(change).sum(-1) / 2))
        return bernstein(mean, (self.estimate * (V - mean[..., None]) ** 2).sum(-1), V, self.D)

    def true(self, V):
        """T* V."""
        return self.r + self.P @ V

    def above(self, V):
        """T_1 V."""
        return self.most + self.estimate @ V + self.width(V)

    def below(self, V):
        """T_-1 V."""
        return self.low + self.estimate @ V - self.width(V if self.mirrored else -V)

    def values(self, policy):
        """V^pi, O and L at the first step, of a policy (H, S)."""
        return [self.recursion(T, policy)[0][0] for T in (self.true, self.above, self.below)]

    def recursion(self, T, policy=None):
        """Values and actions of the backward recursion with one of the operators T."""
        return backward(T, self.H, len(self.r), policy)


def domination(rng, trials, mean=False, estimated=False, mirrored=False):
    """S06: Upper operators are above the true one, lower ones below, and so are their values.

    mean       whether upper(V) is the mean under the estimate
    estimated  whether the estimated reward takes the place of r+
    mirrored   whether lower(V) has the width of V and not that of -V
    """

    def violation(case):
        sets, V = Sets(case, mean, estimated, mirrored), np.asarray(case["V"])
        if not sets.tame:
            return SKIPPED
        best, U = (sets.recursion(T)[0][0] for T in (sets.true, sets.above))
        value, O, L = sets.values(np.argmax(case["scores"], -1)[: sets.H])
        operators = np.maximum(sets.true(V) - sets.above(V), sets.below(V) - sets.true(V)) / max(np.ptp(V), 1.0)
        return float(max(operators.max(), np.max([best - U, value - O, L - value]) / sets.H))

    # The estimate is nearly sure of the larger value, and the truth is not.
    edge = _two_states(logits=[5.0, 0.0], shift=[0.0, 8.0], V=np.array([1.0, 0.0]))
    return search(rng, trials, _draw_sets, violation, edges=[edge])


def _two_states(r=(0.0, 0.0), below=0.0, above=0.0, hat=0.0, c=0.25, logits=0.0, shift=0.0, V=0.0):
    """Two equal states, two actions, H = 1."""
    rewards = {"r": r, "below": below, "above": above, "hat": hat}
    case = {key: np.broadcast_to(value, (2, 2)) for key, value in rewards.items()}
    laws = {key: np.broadcast_to(value, (2, 2, 2)) for key, value in (("logits", logits), ("shift", shift))}
    return case | laws | {"H": 1, "V": V + np.zeros(2), "scores": np.zeros((5, 2, 2)), "zeta": 0.0, "c": c}


def _draw_sets(rng):
    """A random MDP with sets, a function V, scores of a policy, and the constants of the gate."""
    S, A, H = rng.integers(2, 5), rng.integers(2, 4), rng.integers(1, 6)
    case = {key: 2 * rng.standard_normal((S, A)) for key in ("r", "below", "above", "hat")}
    case |= {"H": H, "V": rng.standard_normal(S), "scores": rng.standard_normal((5, S, A))}
    case |= {"zeta": rng.random(), "c": 10.0 ** rng.uniform(-2, 0.5), "logits": 2 * rng.standard_normal((S, A, S))}
    case["shift"] = 10.0 ** rng.uniform(-2, 0.5) * rng.standard_normal((S, A, S))
    return case | ({"psi": rng.standard_normal(S)} if rng.random() < 0.5 else {})


def gate(rng, trials, closed=True, certificate="U", bound="O", recomputed=True):
    """S07: What the gate lets pass has a certificate of at most 1 + c widths.

    closed       False: the gate lets everything pass
    certificate  'V': the values V~ of T_zeta take the place of U in it; 'O': O
    bound        'V': these values take the place of O in the bound
    recomputed   False: the L of the policy of T_zeta is used although another one is played
    """

    def violation(case):
        sets, zeta, c = Sets(case), np.clip(case["zeta"], 0, 1), abs(case["c"])
        if not sets.tame:
            return SKIPPED

        def between(V):
            return (1 - zeta) * (sets.hat + sets.estimate @ V) + zeta * sets.above(V)

        (best, _), (U, bold), (soft, policy) = map(sets.recursion, (sets.true, sets.above, between))
        best, U, soft = best[0], U[0], soft[0]
        (value, O, L), (bold_value, bold_O, bold_L) = sets.values(policy), sets.values(bold)
        refused = (U - O > c * (O - L)) & closed
        value, O = np.where(refused, bold_value, value), np.where(refused, bold_O, O)
        L = np.where(refused & recomputed, bold_L, L)
        certified = {"U": U, "V": soft, "O": O}[certificate] - L
        limit = (1 + c) * ((soft if bound == "V" else O) - L)
        return float(np.max([best - value - certified, certified - limit]) / sets.H)

    # r, r-, r+ and r^ of two actions: (1, 0, 1, .5) and (0, 0, .8, .6); or (0, 0, 1, .5) and (.8, .7, .8, .75)
    far = {"r": (30.0, -30.0), "below": -30.0, "above": (0.0, np.log(4)), "hat": (0.0, np.log(3))}
    near = {"r": (-30.0, np.log(4)), "below": (0.0, np.log(7)), "above": (30.0, -30.0)}
    edges = [_two_states(**far), _two_states(**far, c=0.1), _two_states(**near)]
    return search(rng, trials, _draw_sets, violation, edges=edges)
