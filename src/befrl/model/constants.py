"""The constants of Assumption 1 and Theorem 1, on a compact set: over R^d the infima are zero for bounded families.

    alpha_p = inf lambda_min( W' Cov_v[psi] W ),   beta_p = sup lambda_max( Cov_v[psi] ),   |v| <= radius_p
    alpha_r = |B|^2 inf Var_c(r),                    beta_r = |B|^2 sup Var_c(r),               |c| <= radius_r
    B_A = max(|theta_p|_A, |theta_r|_A),             B_phi_A = sup |A^-1 G_{s,a}|

v = U(s,a) theta_p, c = theta_r . x_r, and each radius is the largest norm at theta* over all (s,a). W is an orthonormal
basis of the directions in which psi varies on the support of (s,a): with structural zeros no law depends on the others.

Deviations: the paper's alpha_r, lambda_min(B B') inf Var, is zero for every p >= 2. Here it is the constant along B,
the only direction on which rewards depend and in which theta*_r and its estimate lie.
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
        if found[alpha] <= 1e-10 * found[beta]:
            what = f"{alpha} = {found[alpha]:.3g} is zero to rounding beside {beta} = {found[beta]:.3g}"
            cure = "choose laws that are less extreme (or a B that is not zero)"
            raise InputError(f"the instance's constant {what}: Assumption 1 fails, so {cure}")
    return found


def supremum(model, of):
    """The supremum of a function over all states; of(features) is its maximum over the states of `features`."""
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
    # Ever smaller grids around the best anchors and corners, where piecewise linear features have their extremes.
    for start in points[np.argsort(values)[-3:]]:
        for reach in 0.5 ** np.arange(20):
            around = np.clip(start + reach * width * grid, space.low, space.high)
            values = at(around)
            start, best = around[values.argmax()], max(best, values.max())
    return float(best)


def covariance_range(family, n_anchors, n_actions, radius, rng):
    """The infimum and the supremum of the eigenvalues of Cov psi over |v| <= radius and all (s,a)."""
    if family.constant_covariance:
        eigenvalues = np.linalg.eigvalsh(family.moments(np.zeros((1, 1, 1, family.p)))[2][0, 0, 0])
        return float(eigenvalues[0]), float(eigenvalues[-1])
    # A base measure shared by all (s,a) has one entry; otherwise one (s,a) serves for all with equal supports.
    places = list(np.ndindex(*np.minimum((n_anchors, n_actions), family.log_base.shape[:2])))
    supports = {_shape(family, *place): place for place in reversed(places)} if len(places) > 1 else {"": places[0]}
    lows, highs = [], []
    for x, a in supports.values():
        psi, one = family.support(x, a), family.restricted(x, a)
        # An orthonormal basis (p, rank) of the span of the differences of psi.
        _, singular, rows = np.linalg.svd(psi - psi.mean(0), full_matrices=False)
        basis = rows[singular > 1e-10 * max(singular.max(initial=0.0), 1e-300)].T
        if basis.shape[1] == 1:
            # On a grid with both ends and the centre, where a symmetric law has its extremes.
            natural = np.linspace(-radius, radius, 2001)[:, None] * basis.T
            variance = (basis.T @ one.moments(natural[:, None, None])[2][:, 0, 0] @ basis)[:, 0, 0]
            lows.append(variance.min())
            highs.append(variance.max())
        elif basis.shape[1] > 1:
            lows.append(_extreme(one, basis, 0, +1.0, radius, rng))
            highs.append(_extreme(one, basis, -1, -1.0, radius, rng))
    if not lows:
        raise InputError("no next state of the instance is random: there is nothing to estimate in its transitions")
    return float(min(lows)), float(max(highs))


def _shape(family, x, a):
    """A key that is equal for supports on which psi has the same inner products, hence equal up to a rotation."""
    psi, base = family.support(x, a), family.base(x, a)
    return (psi @ psi.T).tobytes() + base[np.isfinite(base)].tobytes()


def _eigenvalue(family, basis, which, z):
    """The eigenvalue number `which` of W' Cov W at v = W z and its gradient, z (k, rank) -> (k,), (k, rank)."""
    mass = np.exp(family.log_masses((z @ basis.T)[:, None, None])[0][:, 0, 0])
    centred = (family.psi - (mass @ family.psi)[:, None]) @ basis
    values, vectors = np.linalg.eigh(np.swapaxes(centred, -1, -2) @ (mass[..., None] * centred))
    along = (centred * vectors[..., which][:, None]).sum(-1)
    # d(e' Cov e)/dv is the third central moment, twice along e.
    return values[:, which], ((mass * along**2)[..., None] * centred).sum(1)


def _extreme(family, basis, which, sign, radius, rng):
    """The extreme eigenvalue over the ball |z| <= radius, by projected gradient descent from many starts."""

    def length(z):
        return np.maximum(np.linalg.norm(z, axis=-1, keepdims=True), 1e-300)

    rank = basis.shape[1]
    axes = np.concatenate([np.eye(rank), -np.eye(rank), np.zeros((1, rank))])
    random = rng.standard_normal((64, rank))
    z = radius * np.concatenate([axes, random / np.linalg.norm(random, axis=1, keepdims=True), random / 4 / rank])
    best, slope = _eigenvalue(family, basis, which, z)
    step = np.full((len(z), 1), radius)
    for _ in range(300):
        trial = z - sign * step * slope / length(slope)
        trial = trial * np.minimum(1.0, radius / length(trial))
        trial_values, trial_slope = _eigenvalue(family, basis, which, trial)
        better = (sign * trial_values < sign * best)[:, None]
        z, slope = np.where(better, trial, z), np.where(better, trial_slope, slope)
        best = np.where(better[:, 0], trial_values, best)
        step = np.where(better, 1.5 * step, 0.5 * step)
        if step.max() < 1e-10 * radius:
            break
    return float(sign * (sign * best).min())
