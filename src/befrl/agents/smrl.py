"""SMRL (Li, Li, Kabra, Srebro, Wang, Yang, NeurIPS 2022): model-based learning by score matching.

For the estimate theta^ = -(V_n + lambda A)^-1 sum U' x of `estimators/score_matching.py`, with V_n = sum U' C U,

    C   = sum_i g_i d_i psi (d_i psi)',   x = sum_i g_i (d_i^2 psi + d_i b d_i psi) + d_i g_i d_i psi
    rho = sqrt(lambda) B_A + sigma sqrt( log det(V_n + lambda A) - log det(lambda A) + 2 log(1/delta) )
    sigma^2 = sup over (s,a) of lambda_max( E[C]^-1/2 Cov(x + C U theta^) E[C]^-1/2 )
    b_h = rho | U' Cov_{theta^}(psi, V_{h+1}) |_{(V_n + lambda A)^-1},   Q_h = clip( E[r] + P V_{h+1} + b_h, 0, H-h+1 )

By Stein's identity U'(x + C U theta*) has mean zero given (s,a), so that |theta* - theta^|_{V_n + lambda A} <= rho.
`scale` multiplies rho. `bonus: local` plans with b_h (`optimism.py`), as the paper does in principle; `bonus: none`
plans without it, as the authors' code does. That code looks for the best constant sequence of actions (`search:
shooting`) by the means of 100 simulated returns of 5 steps, even if the episode ends earlier.

**Deviations.** The source's constants are not known: rho is the self-normalised bound for sub-Gaussian noise with the
standard deviation sigma of the estimated model, and ignores that V_n is random given (s,a). The bonus acts at each
(s,a,h) separately and Q is clipped, in place of a maximum over models. On boxes the score is weighted by g, without
which the estimate is inconsistent. lambda is tied to eta unless `penalty` is given (the authors' code: 1e-4 in its
script for custom-sin, else 1e-2), and multiplies A, in the code I: the same for full-matrix A_i. 5 steps and 100
returns are that script's, which has two actions; by default the code looks 10 steps ahead along random sequences. It
chooses in every state, here in every cell, where a mean of 100 returns is drawn as a normal with their exact mean and
variance. In track U rewards are estimated by maximum likelihood, and with the bonus they are optimistic as in EXP-UCRL.
"""

from dataclasses import dataclass

import numpy as np

from befrl.agents.base import EXACT, BaseAgent, Plan
from befrl.common.errors import InputError, Refused
from befrl.common.parameters import choice, given_or, number, optional, scale
from befrl.learning import confidence
from befrl.learning.estimators import score_matching
from befrl.learning.learner import Learner, LearnerParameters
from befrl.numerics import linalg
from befrl.planning import induction, optimism

LOOKAHEAD, TRIALS = 5, 100
GROUP = 1 << 15  # rows are taken in groups whose tables, of this many numbers, fit into the processor's cache


@dataclass(frozen=True)
class Parameters:
    eta: float = number(1.0, 1e-6, 1e6, "weight of the penalty, in units of the likelihood", ridge=True)
    penalty: float | None = optional(1e-6, 1e6, "an absolute lambda instead of the one that eta gives")
    scale: float | str = scale("multiple of the confidence radius rho; theory means 1")
    delta: float = number(0.05, 1e-12, 1.0, "failure rate of the confidence set")
    bonus: str = choice("none", ("none", "local"), "optimism: none as in the authors' code, or a local bonus")
    search: str = choice("exact", ("exact", "shooting"), "the best policy, or the best constant sequence of actions")

    def __post_init__(self):
        if self.bonus != "none" and self.search == "shooting":
            raise InputError("agent 'smrl': search = shooting has no bonus")


class Agent(BaseAgent):
    surrogate = "rho is the self-normalised bound, with the noise's standard deviation in the estimated model."

    @classmethod
    def specification(cls, model, parameters):
        try:
            score_matching.Estimator(model, 1, parameters.eta, None)
        except Refused as error:
            raise Refused(f"agent 'smrl': {error}") from None
        return EXACT

    def __init__(self, problem, parameters):
        super().__init__(problem, parameters)
        self.learner = Learner(problem, LearnerParameters(parameters.eta, "score-matching"))
        self.estimator = self.learner.estimator
        self.estimator.weight = given_or(parameters.penalty, self.estimator.weight)
        self.squares, self.slopes = self.estimator.terms(problem.model.space.nodes)

    def matrix(self):
        """V_n + lambda A, (n, blocks, m, m)."""
        features, estimator = self.problem.model.features, self.estimator
        V = features.sandwich(estimator.squares, diagonal=estimator.diagonal)
        return linalg.positive(features.plus_trace(V, estimator.weight))  # Lagrange weights may be negative, and V too

    def noise(self):
        """sigma, (n,): the largest noise x + C U theta over (s,a) in units of E[C], by sums over the nodes."""
        natural = self.problem.model.features.natural(self.learner.theta_p)
        size = max(1, GROUP // (natural[0, ..., 0].size * len(self.slopes)))
        return np.concatenate([self._noise(natural[i : i + size]) for i in range(0, len(natural), size)])

    def _noise(self, natural):
        mass, p = self.problem.model.family.masses(natural)[0], natural.shape[-1]
        C = (mass @ self.squares.reshape(-1, p * p)).reshape(*natural.shape, p)
        if p == 1:
            x = natural * self.squares[:, 0, 0]
            x += self.slopes[:, 0]
            return np.sqrt((np.vecdot(mass, np.square(x, out=x)) / C[..., 0, 0]).max((-1, -2)))
        x = self.slopes + (self.squares @ natural[..., None, :, None])[..., 0]
        covariance = np.swapaxes(x, -1, -2) @ (mass[..., None] * x)
        values, vectors = np.linalg.eigh(C)
        # Directions in which psi hardly varies carry no noise either.
        whiten = vectors / np.sqrt(np.maximum(values, 1e-12 * values[..., -1:]))[..., None, :]
        top = np.linalg.eigvalsh(np.swapaxes(whiten, -1, -2) @ covariance @ whiten)[..., -1]
        return np.sqrt(np.maximum(top, 0.0).max((-1, -2)))

    def radius(self, matrix):
        """rho, (n,)."""
        features, weight, chosen = self.problem.model.features, self.estimator.weight, self.parameters
        log_prior = features.log_det_trace() + features.d * np.log(weight)
        growth = linalg.log_determinant(linalg.cholesky(matrix)) - log_prior
        spread = np.sqrt(np.maximum(growth, 0.0) + 2 * np.log(1 / chosen.delta))
        return chosen.scale * (np.sqrt(weight) * self.problem.constants["B_A"] + self.noise() * spread)

    def plan(self, k):
        problem, learner, model, chosen = self.problem, self.learner, self.problem.model, self.parameters
        R = model.mean_reward(learner.theta_r)
        if chosen.search == "shooting":
            return Plan(self.shoot(R), np.full((problem.n, model.n_anchors), np.nan), R)
        if chosen.bonus == "none":
            Q, V = induction.backward_induction(model, R, learner.theta_p, problem.horizon)
            return Plan(self.cell_policy(Q), V[:, 0], R)
        R = confidence.optimistic_rewards(problem, learner.reward, learner.data.counts, chosen.delta, chosen.scale)
        matrix = self.matrix()
        region = optimism.Region(model, learner.theta_p, matrix, self.radius(matrix))
        Q, V = optimism.local(region, R, problem.horizon)
        return Plan(self.cell_policy(Q), V, R)

    def shoot(self, R):
        """The actions (n, H, cells) whose constant repetition has the largest mean of TRIALS returns."""
        problem, space = self.problem, self.problem.model.space
        shape = (problem.n, problem.horizon, space.n_cells, problem.model.n_actions)
        z = problem.normals.take(int(np.prod(shape[1:]))).reshape(shape)
        both = returns(R, problem.model.kernel(self.learner.theta_p))
        mean, variance = (space.cell_means(part)[:, None] for part in both)
        return self.greedy(mean + np.sqrt(variance / TRIALS) * z)


def returns(R, P):
    """The mean and the variance of the return of LOOKAHEAD steps with one constant action, (n, N, A) each."""
    n, N, A = R.shape
    by_action = np.ascontiguousarray(np.moveaxis(P, 2, 1))
    r = np.ascontiguousarray(np.moveaxis(R, 2, 1))
    mean = square = np.zeros((n, A, N))
    for _ in range(LOOKAHEAD):
        later = (by_action @ mean[..., None])[..., 0]
        square = r * r + 2 * r * later + (by_action @ square[..., None])[..., 0]
        mean = r + later
    return np.moveaxis(mean, 1, 2), np.moveaxis(np.maximum(square - mean * mean, 0.0), 1, 2)
