"""The constants of Assumption 1 and Theorem 1, on a stated compact set.

Over all of R^d the infima of the variances are zero for every bounded family. They are taken on

    Theta = { theta : |U(s,a) theta| <= radius for every (s,a) },   radius = the largest such norm at theta*,

a compact set of natural parameters that holds theta* by construction (the same for rewards, with theta_r . x_r).

    alpha_p = inf lambda_min( W' Cov_v[psi] W ),   beta_p = sup lambda_max( Cov_v[psi] ),   |v| <= radius_p
    alpha_r = |B|^2 inf Var_c(r),                    beta_r = |B|^2 sup Var_c(r),               |c| <= radius_r
    B_A = max(|theta_p|_A, |theta_r|_A),             B_phi_A = sup |A^-1 G_{s,a}|

alpha_r is not the paper's: lambda_min(B B') inf Var is zero for every p >= 2. It is the constant along B, the one
direction that rewards depend on and in which theta*_r and its estimate lie.

W is an orthonormal basis of the directions in which psi varies on the support of (s,a): a known support with structural
zeros leaves directions that no data can show and that no law depends on, and these are not counted.
"""

import numpy as np

from befrl.common.errors import InputError


def compute(model, theta_p, theta_r, rng):
    """The constants as a dictionary of numbers."""
    features = model.features
    radius_p = supremum(model, lambda some: np.linalg.norm(some.natural(theta_p[None]), axis=-1).max())
    radius_r = supremum(model, lambda some: np.abs(some.natural(theta_r[None]) @ model.B).max())
    alpha_p, beta_p = covariance_range(model.family, model.n_anchors, model.n_actions, radius_p, rng)
    low, high = model.reward.variance_range(radius_r)
    size_B = float(model.B @ model.B)
    found = {
        "alpha_p": alpha_p,
        "beta_p": beta_p,
        "alpha_r": size_B * float(low),
        "beta_r": size_B * float(high),
        "B_A": max(features.trace_norm(theta_p), features.trace_norm(theta_r)),
        "B_phi_A": supremum(model, lambda some: some.bound()),
        "radius_p": radius_p,
        "radius_r": radius_r,
    }
    for name, value in found.items():
        if not np.isfinite(value) or value < 0:
            raise InputError(f"the instance's constant {name} is {value}: check its features, B and parameters")
    for alpha, beta in (("alpha_p", "beta_p"), ("alpha_r", "beta_r")):
        # Nearer to zero than rounding can tell, every bound that divides by alpha is void.
        if found[alpha] <= 1e-10 * found[beta]:
            raise InputError(
                f"the instance's constant {alpha} = {found[alpha]:.3g} is zero to rounding beside {beta} = "
                f"{found[beta]:.3g}: Assumption 1 fails, so choose laws that are less extreme (or a B that is not zero)"
            )
    return found


def supremum(model, of):
    """sup over states of a function of features, which takes the largest of all that it is given.

    Where features vary within cells: the best of anchors and of corners, where piecewise linear features have their
    extremes, and then a search around the best few of them, each round on a smaller grid around the last one's best.
    """
    if not model.smooth:
        return float(of(model.features))
    space = model.space

    def at(points):
        table = model.phi(points if space.dim > 1 else points[:, 0])
        return np.array([of(model.features.on(one[None])) for one in table])

    points = np.concatenate([space.nodes, space.corners]).reshape(-1, space.dim)
    values = at(points)
    width = np.array([np.diff(edges).max() for edges in space.edges])
    grid = np.stack([g.ravel() for g in np.meshgrid(*[np.linspace(-1, 1, 5)] * space.dim)], axis=-1)
    best = values.max()
    for start in points[np.argsort(values)[-3:]]:
        for reach in 0.5 ** np.arange(20):
            around = np.clip(start + reach * width * grid, space.low, space.high)
            values = at(around)
            start, best = around[values.argmax()], max(best, values.max())
    return float(best)


def covariance_range(family, n_anchors, n_actions, radius, rng):
    """inf of the smallest and sup of the largest eigenvalue of Cov psi over |v| <= radius and all (s,a)."""
    # A base measure that does not depend on (s,a) has one entry only.
    places = [
        (x, a)
        for x in range(min(n_anchors, family.log_base.shape[0]))
        for a in range(min(n_actions, family.log_base.shape[1]))
    ]
    supports = {_shape(family, *place): place for place in reversed(places)} if len(places) > 1 else {"": places[0]}
    if family.constant_covariance:
        eigenvalues = np.linalg.eigvalsh(family.moments(np.zeros((1, 1, 1, family.p)))[2][0, 0, 0])
        return float(eigenvalues[0]), float(eigenvalues[-1])
    lows, highs = [], []
    for x, a in supports.values():
        basis = varying_directions(family.support(x, a))
        rank = basis.shape[1]
        if rank == 1:
            variance = _variance_along(family, x, a, basis, radius)
            lows.append(variance.min())
            highs.append(variance.max())
        elif rank > 1:
            eigenvalues = _eigenvalues(family, x, a, basis)
            lows.append(_extreme(eigenvalues, 0, +1.0, rank, radius, rng))
            highs.append(_extreme(eigenvalues, -1, -1.0, rank, radius, rng))
    if not lows:
        raise InputError("no next state of the instance is random: there is nothing to estimate in its transitions")
    return float(min(lows)), float(max(highs))


def _shape(family, x, a):
    """Equal for supports on which psi has the same inner products: they are images of each other under a rotation."""
    psi, base = family.support(x, a), family.base(x, a)
    return (psi @ psi.T).tobytes() + base[np.isfinite(base)].tobytes()


def varying_directions(psi):
    """Orthonormal basis (p, rank) of the span of the differences of psi on its support."""
    _, singular, rows = np.linalg.svd(psi - psi.mean(0), full_matrices=False)
    return rows[singular > 1e-10 * max(singular.max(initial=0.0), 1e-300)].T


def _variance_along(family, x, a, basis, radius):
    """Variance of psi along its only direction, on a grid that holds both ends and the centre.

    These are where a symmetric law has its extremes. The family's own moments are used: closed forms where it has them.
    """
    natural = np.linspace(-radius, radius, 2001)[:, None] * basis.T
    cov = family.restricted(x, a).moments(natural[:, None, None])[2][:, 0, 0]
    return (basis.T @ cov @ basis)[:, 0, 0]


def _eigenvalues(family, x, a, basis):
    """At one (s,a): an eigenvalue of W' Cov W at v = W z, and its gradient."""
    one = family.restricted(x, a)

    def evaluate(z, which):
        """The eigenvalue number `which` and its gradient, z (k, rank) -> (k,), (k, rank)."""
        mass = np.exp(one.log_masses((z @ basis.T)[:, None, None])[0][:, 0, 0])
        centred = (family.psi - (mass @ family.psi)[:, None]) @ basis
        cov = np.swapaxes(centred, -1, -2) @ (mass[..., None] * centred)
        values, vectors = np.linalg.eigh(cov)
        e = vectors[..., which]
        along = (centred * e[:, None]).sum(-1)
        # d(e' Cov e)/dv is the third central moment, twice along e.
        return values[:, which], ((mass * along**2)[..., None] * centred).sum(1)

    return evaluate


def _extreme(eigenvalues, which, sign, rank, radius, rng):
    """Extreme eigenvalue over the ball |z| <= radius: projected gradient descent from many starts."""

    def into_ball(z):
        return z * np.minimum(1.0, radius / np.maximum(np.linalg.norm(z, axis=-1, keepdims=True), 1e-300))

    axes = np.concatenate([np.eye(rank), -np.eye(rank), np.zeros((1, rank))])
    random = rng.standard_normal((64, rank))
    z = radius * np.concatenate([axes, random / np.linalg.norm(random, axis=1, keepdims=True), random / 4 / rank])
    values, slope = eigenvalues(z, which)
    best = values.copy()
    step = np.full((len(z), 1), radius)
    for _ in range(300):
        trial = into_ball(z - sign * step * slope / np.maximum(np.linalg.norm(slope, axis=1, keepdims=True), 1e-300))
        trial_values, trial_slope = eigenvalues(trial, which)
        better = (sign * trial_values < sign * best)[:, None]
        z, slope = np.where(better, trial, z), np.where(better, trial_slope, slope)
        best = np.where(better[:, 0], trial_values, best)
        step = np.where(better, 1.5 * step, 0.5 * step)
        if step.max() < 1e-10 * radius:
            break
    return float(sign * (sign * best).min())
