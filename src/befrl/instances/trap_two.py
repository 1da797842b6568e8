"""A trap for noise on the reward alone, p = 2: the untried best action looks like something between two others.

A state is a pair (x, y) with x in {0, 1} and y in {0, 1, 2}; psi(s') = (x', y') under the counting measure, so that x'
and y' are independent. B = e_1 and d = 4. The actions hi, lo and new move y' alone, with a parameter each, and all
rewards depend on the fourth parameter:

    U(s, a) theta = ( theta_4 (1[y = 2] + bonus_a), theta_a ),     bonus_hi = 2 bonus, bonus_new = bonus, bonus_lo = 0,
    P(y' = i | s, a) ~ exp(i theta^p_a),     natural parameter of the reward = theta^r_4 (1[y = 2] + bonus_a).

theta^p = (hi, -hi, best, 0) and theta^r_4 = prize > 0. With theta_a = 0 the law of y' is uniform; hi moves y' up, lo
moves it down, and new moves it up far more. The best policy is new, and hi at the last step. The first state is (0, 0).

**Why BEF-RLSVI is trapped.** The rewards of its plan depend on xi through theta~_4 alone, since B'U ignores the other
parameters. The law of y' has a monotone likelihood ratio in theta_a, and the mean reward increases in its natural
parameter. By induction over the steps, Q_h(s, a) increases in (theta^_a, bonus_a) if theta~_4 > 0 and decreases if
theta~_4 < 0. So as long as theta^_lo <= 0 <= theta^_hi, the untried action new, with theta^_new = 0, is strictly
between hi and lo (for bonus > 0) and never the best: for no draw of xi, hence for no x_k however large, and whatever
the rule for ties. The sign of theta^_hi is that of the sum of y' - 1 over its trials. This random walk steps up e^(2
hi) times as often as down, and never falls below zero with probability 1 - e^(-2 hi); likewise for lo. Hence

    P(new is not tried in any episode) >= (1 - e^(-2 hi))^2,     which is 0.75 for hi = 1,

and then the regret of every episode is at least V* - Q*_1(s_1, hi) > 0. It tends to this gap once theta~_4 > 0 for
good, that is after x_k trials or so; before that, lo is played in half of the episodes and the regret is larger.

**Ties.** With bonus = 0 all actions tie at the last step: if ties are broken at random new is tried there and the trap
opens, and if the first action is taken it stays shut. Strong noise saturates Bernoulli rewards, whose means then differ
by less than rounding: with these the trap holds in exact arithmetic, and with `ties: first`. Independent noise at each
step (`noise: step`) opens the trap: two signs of theta~_4 in an episode can favour what lies between.

**What it means for Theorem 1.** The proof of optimism bounds V_{theta*p} - V_{theta^p} by the norm of sum_h E U, in
which theta_new counts, and offsets it by the noise along B'U, in which it does not. Assumption 1 as printed has
lambda_min(B B') in alpha_r, which is zero for every p > 1, and the bound is void. With the constant along B, as in
`constants.py`, all that the theorem asks holds here: phi >= 0, psi >= 0, no base measure, mean rewards in [0, 1] (and
rewards in {0, 1} with `reward: bernoulli`), positive alpha and beta on a compact set, finite B_A and B_phi_A. Its bound
is of order sqrt(K) with probability 1 - 7 delta, and the regret is linear with probability 0.75: in this reading the
theorem is false. `trap-one` has p = 1, where both readings of alpha_r agree.
"""

from dataclasses import dataclass

import numpy as np

from befrl.common.parameters import choice, integer, number
from befrl.model import rewards
from befrl.model.families.base import FiniteFamily
from befrl.model.features import Features
from befrl.model.instance import Instance
from befrl.model.model import Model
from befrl.model.spaces import FiniteSpace

HI, LO, NEW = range(3)
TOP = 2


@dataclass(frozen=True)
class Parameters:
    horizon: int = integer(2, 1, 10000, "steps per episode H")
    hi: float = number(1.0, 0.1, 3.0, "natural parameter of the action hi, and minus that of lo")
    best: float = number(4.0, 0.2, 8.0, "natural parameter of the best action, new")
    prize: float = number(0.8, 0.1, 5.0, "natural parameter of the reward at y = 2")
    bonus: float = number(0.05, 0.0, 1.0, "how much more the action new earns than lo, and hi more than new")
    reward: str = choice("gaussian", rewards.registry, "law of the rewards")
    reward_sd: float = number(1.0, 0.01, 10.0, "standard deviation of the rewards, for laws that have one")


def build(parameters: Parameters) -> Instance:
    psi = np.array([(x, y) for x in range(2) for y in range(TOP + 1)], dtype=float)
    S, A = len(psi), 3
    # phi = (one-hot action, what the reward depends on); A_1, A_2, A_3 map to the second component, A_4 to the first.
    phi = np.zeros((S, A, A + 1))
    phi[..., :A] = np.eye(A)
    phi[..., A] = (psi[:, 1] == TOP)[:, None]
    phi[:, HI, A] += 2 * parameters.bonus
    phi[:, NEW, A] += parameters.bonus
    matrices = np.zeros((A + 1, 2, A + 1))
    matrices[range(A), 1, range(A)] = 1.0
    matrices[A, 0, A] = 1.0
    reward = rewards.make(parameters.reward, parameters.reward_sd)
    family = FiniteFamily(FiniteSpace(S), psi, np.zeros(S))
    return Instance(
        model=Model(Features.dense(phi, matrices), family, reward, B=np.array([1.0, 0.0])),
        horizon=parameters.horizon,
        theta_p=np.array([parameters.hi, -parameters.hi, parameters.best, 0.0]),
        theta_r=np.array([0.0, 0.0, 0.0, parameters.prize]),
        start=lambda u: np.zeros(len(u), dtype=int),
        start_masses=np.eye(S)[0],
    )
