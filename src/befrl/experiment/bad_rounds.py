"""Bad rounds: episodes that visit an (s,a) with |a(s,a)|^2 = tr(U (Gbar^r)^-1 U') >= 1, Gbar^r = eta/alpha_r A + sum G.

An episode is played with the true theta_p, or imagined with its estimate. Shapes: n rows, N anchors, A actions.
"""

import numpy as np
from scipy.special import rel_entr


def squared_norms(instance, learner):
    """|a|^2 of all (anchor, action) before an episode, (n, N, A)."""
    features = instance.model.features
    ratio = learner.eta / instance.constants["alpha_r"]
    return features.norms(features.plus_trace(features.design(learner.data.counts), ratio))


def harmless_eta(instance):
    """The eta above which no round is ever bad: alpha_r times the largest tr(A^-1 G_{s,a})."""
    features = instance.model.features
    nothing = features.design(np.zeros((1, features.n_anchors, features.n_actions)))
    return instance.constants["alpha_r"] * float(features.norms(features.plus_trace(nothing, 1.0)).max())


def chances(instance, learner, policy, bad):
    """P(bad round) of a played and an imagined episode, and KL of the first from the second, by first anchor, (n, N).

    KL = E sum_h KL_{s_h,a_h}(theta_p, its estimate), an expectation over played episodes.
    """
    truth = np.broadcast_to(instance.P, (len(bad), *instance.P.shape))
    model = instance.model.kernel(learner.theta_p)
    policy = instance.model.space.on_anchors(policy)
    played, imagined = (_expected(kernel, policy, bad, bad) for kernel in (truth, model))
    return played, imagined, _expected(truth, policy, rel_entr(truth, model).sum(-1), np.zeros_like(bad))


def _expected(kernel, policy, gain, stop):
    """Expected sum of gain (n, N, A) until the episode stops (n, N, A), or ends, from each first anchor, (n, N)."""
    value = np.zeros(gain.shape[:2])
    for h in reversed(range(policy.shape[1])):
        action = policy[:, h, :, None].astype(int)
        now, end = (np.take_along_axis(table, action, 2)[..., 0] for table in (gain, stop))
        rows = np.take_along_axis(kernel, action[..., None], 2)[:, :, 0]
        value = now + ~end * (rows @ value[..., None])[..., 0]
    return value
