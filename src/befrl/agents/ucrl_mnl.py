"""UCRL-MNL (Hwang, Oh, AAAI 2023): optimism in the multinomial logistic model, with maximum likelihood on all data.

With f of `mnl.py`, t - 1 transitions before episode k, and kappa <= inf P(s') P(s'') over |theta| <= L_theta,

    theta_k = argmin -sum log P_theta(s') + lam/2 |theta|^2,   A_k = lam I + sum_{i<t} sum_s' f_i f_i'
    Q_h     = Pi_[0,H]( r + P_{theta_k} V_{h+1} + 2 H beta_k max_s' |f(s,a,s')|_{A_k^-1} ),   V_h = max_a Q_h
    beta_k  = 1/kappa ( sqrt(lam) L_theta + sqrt( d log(1 + t U L_f^2/(d lam)) + 2 log(1/delta) ) )

`scale` multiplies beta_k. theta is (n, d), not in the coordinates of `mnl.py`. **Deviations.** Those of `mnl.py`. The
source's constants are not known: this beta_k follows from hess >= kappa sum f f' and the self-normalised bound for
noise of variance proxy 1; 1/2 would suffice, so that it is sqrt 2 too large. The MLE is not constrained to the set
where kappa is a bound. Q is clipped as in public code; the paper may clip V only, as UCRL-MNL+ does (`clip: values`).
By default lam is max(1, L_f^2) and kappa the bound of `mnl.py`; public code has lam = kappa = 1, and its constant c
absorbs kappa. Sums run over counts, with `likelihood: visits` over all visits, as published. Public code reads V_{h+1}
from the last episode's Q and drops the penalty's gradient; this agent does not.
"""

from dataclasses import dataclass

import numpy as np

from befrl.agents.shared.mnl import MnlAgent
from befrl.agents.shared.planned_rewards import RewardParameters
from befrl.common.parameters import choice, given_or, number, optional, scale
from befrl.learning import likelihood
from befrl.numerics import newton


@dataclass(frozen=True)
class Parameters(RewardParameters):
    scale: float | str = scale("multiple of the radius beta; theory means 1")
    lam: float | None = optional(1e-6, 1e6, "weight of the penalty; max(1, L_f^2) if none", ridge=True)
    kappa: float | None = optional(1e-9, 1.0, "kappa in beta; a lower bound on it if none")
    likelihood: str = choice("counts", ("counts", "visits"), "sums over counts, or over all visits in every episode")
    clip: str = choice("Q", ("Q", "values"), "what is cut to [0, H]: Q, or V alone")
    delta: float = number(0.05, 1e-12, 1.0, "failure rate of the confidence set")


class Agent(MnlAgent):
    surrogate = (
        "beta_k is derived here from hess >= kappa sum f f' and the self-normalised bound with variance proxy 1."
    )

    def __init__(self, problem, parameters):
        super().__init__(problem, parameters)
        self.lam = given_or(parameters.lam, max(1.0, self.reachable.L_f**2))
        self.kappa = given_or(parameters.kappa, self.reachable.kappa())
        self.theta = np.zeros((problem.n, problem.model.d))
        self.visits = []

    def radius(self, k):
        """beta_k, with k from 0, (n,)."""
        r, t = self.reachable, k * self.problem.horizon + 1
        noise = r.d * np.log1p(t * r.U * r.L_f**2 / (r.d * self.lam)) + 2 * np.log(1 / self.parameters.delta)
        return self.parameters.scale / self.kappa * (np.sqrt(self.lam) * r.L_theta + np.sqrt(noise))

    def design(self):
        """A_k, (n, blocks, q, q)."""
        r, counts = self.reachable, self.rewards.data.counts
        grown = r.features.gather(counts[..., None, None] * r.gram.T.reshape(*counts.shape[1:], r.q, r.q))
        return self.lam[:, None, None, None] * np.eye(r.q) + grown

    def plan(self, k):
        longest = np.sqrt(self.reachable.norms(self.design()).max(-1))
        bonus = 2 * self.problem.horizon * self.radius(k)[:, None, None] * longest
        return self.plan_with(bonus, self.problem.model.kernel(self.theta), 0.0, self.parameters.clip == "values")

    def facts(self):
        beta = self.radius(self.problem.episodes - 1)
        return {"lam": self.lam, "kappa": self.kappa, "L_f": self.reachable.L_f, "beta": beta}

    def update(self, trajectory):
        self.rewards.update(trajectory)
        loss = self._loss
        if self.parameters.likelihood == "visits":
            self.visits.append((trajectory.cells, trajectory.actions, trajectory.next_states))
            loss = self._loss_by_visits
        self.theta, _ = newton.minimise(loss, self.theta)

    def _loss(self, theta, rows):
        return likelihood.transitions(self.problem.model, self.rewards.data, self.lam, theta, rows)

    def _loss_by_visits(self, theta, rows):
        r = self.reachable
        cells, actions, following = (np.concatenate(part, axis=1)[rows] for part in zip(*self.visits, strict=True))
        where = (cells, actions)
        f = (r.contrast @ r.features.U)[where]
        at = (np.arange(len(theta))[:, None], r.features.block[where])
        P = np.exp((f @ theta.reshape(len(theta), -1, r.features.m)[at][..., None])[..., 0] + r.log_base[where])
        P /= P.sum(-1, keepdims=True)
        y = (r.states[where] == following[..., None]) & r.real[where]
        lam = self.lam[rows]
        size, pull = likelihood.penalty(r.features, lam, theta)
        gradient = np.zeros((len(theta), r.features.n_blocks, r.features.m))
        np.add.at(gradient, at, ((P - y)[..., None] * f).sum(-2))
        hessian = np.zeros((*gradient.shape, r.features.m)) + lam[:, None, None, None] * r.features.trace
        fbar = f - (P[..., None] * f).sum(-2, keepdims=True)
        np.add.at(hessian, at, np.swapaxes(fbar, -1, -2) @ (P[..., None] * fbar))
        return size - np.log(P[y]).reshape(cells.shape).sum(1), gradient.reshape(theta.shape) + pull, hessian
