"""An environment that keeps what happens in it: policies, states, actions and rewards."""

import numpy as np

from befrl.experiment.environment import Environment


class Recording(Environment):
    """An environment that keeps the policies, which are read-only, and the trajectories of its episodes."""

    def __init__(self, spec):
        super().__init__(spec.instance, spec.root_seed, spec.name, spec.row_seeds)
        self.policies, self.trajectories = [], []

    def rollout(self, agent, policy):
        """Play one episode of every seed."""
        self.policies.append(policy)
        self.trajectories.append(super().rollout(agent, policy))
        return self.trajectories[-1]

    def arrays(self) -> dict[str, np.ndarray]:
        """States (n, K, H) or (n, K, H, dim), actions and rewards (n, K, H), and policies (n, K, H, cells).

        If some policy is random, all policies are probabilities, (n, K, H, cells, actions).
        """
        names, policies = ("states", "actions", "rewards"), self.policies
        found = {name: np.stack([getattr(each, name) for each in self.trajectories], axis=1) for name in names}
        if len({policy.ndim for policy in policies}) > 1:
            unit = np.eye(self.instance.model.n_actions)
            policies = [policy if policy.ndim == 4 else unit[policy] for policy in policies]
        return found | {"policies": np.stack(policies, axis=1)}
