"""Checks of an MDP when it is built, on a few states and (s, a); errors name the part, such as phi."""

import numpy as np

from befrl.common.errors import InputError
from befrl.common.storage import one_line
from befrl.model.features import WrongShape
from befrl.model.rewards.base import RewardLaw
from befrl.model.spaces import check_whole

# Uniform numbers at which first states are tried and, for each dimension, next states: fewer in several dimensions.
STARTS, POINTS, LEAST, FEWER = 10_000, 400, 10, 4
SHARE = 0.01  # largest error of the share of draws in a cell, beyond the error of the grid
PLACES = 4  # the (s, a) at which laws are tried
# The step of the finite differences of Z and E psi, in units of 1/range(psi), and their largest error, of range(psi).
STEP, SLOPE = 1e-3, 1e-5


class OutsideDomain(InputError):
    """Z is infinite at theta, or the law leaves the box that stands for all of R^m."""


def numbers(name, values):
    """The values as an array of floats."""
    try:
        return np.ascontiguousarray(values, dtype=float)
    except (TypeError, ValueError):
        raise WrongShape(f"{name} is not an array of numbers") from None


def call(name, function, x):
    """function(x) as an array; an exception becomes a sentence that names the function."""
    try:
        return np.asarray(function(x))
    except InputError:
        raise
    except Exception as error:
        said = f"{name} fails on an array of shape {np.shape(x)} ({type(error).__name__}: {one_line(error)})"
        raise InputError(f"{said}: write it with numpy functions, which take arrays") from error


def check_pointwise(name, function, states, table):
    """Raise unless a function, with values `table` on the states, keeps leading axes and depends on the state alone."""
    some = np.linspace(0, len(states) - 1, 6).astype(int).reshape(2, 3)
    again = call(name, function, states[some])
    if again.shape != table[some].shape:
        shapes = f"{again.shape} for states of shape {states[some].shape}, it must have {table[some].shape}"
        rule = "keep the leading axes of the states, and put the components of psi last"
        raise WrongShape(f"{name} has shape {shapes}: {rule}")
    _check_same(name, again, table[some])


def psi_table(space, psi):
    """psi on the nodes of a space as numbers, (G, p)."""
    psi, G, name = numbers("psi", psi), len(space.nodes), "psi (`statistic`)"
    if psi.ndim != 2 or len(psi) != G or psi.size == 0:
        raise WrongShape(f"{name} has shape {psi.shape} on the {G} nodes of the space, it must have ({G}, p)")
    for node in np.flatnonzero(~np.isfinite(psi).all(1)):
        raise InputError(f"{name} is not finite at s' = {space.nodes[node]}")
    return psi


def base_table(space, log_base):
    """The log base measure on the nodes of a space, (1, 1, G) or (N, A, G); it need not be normalised."""
    log_base, G = numbers("the log base measure", log_base), len(space.nodes)
    name = "the log base measure (`log_base`, `log_base_at`)"
    if log_base.ndim not in (1, 3) or log_base.shape[-1] != G:
        shapes = f"({G},) or, by state and action, (states, actions, {G})"
        raise WrongShape(f"{name} has shape {log_base.shape} on the {G} nodes of the space, it must have {shapes}")
    log_base = log_base if log_base.ndim == 3 else log_base[None, None]
    for place in np.argwhere(np.isnan(log_base) | (log_base == np.inf)):
        found = f"{log_base[tuple(place)]} at s' = {space.nodes[place[-1]]}"
        raise InputError(f"{name} is {found}: it must be a number, or -inf where no next state can be")
    for s, a in np.argwhere((log_base == -np.inf).all(-1)):
        raise InputError(f"the base measure of (s, a) = ({s}, {a}) is zero: it allows no next state")
    return log_base


def check(instance):
    """Raise an `InputError` if an instance is unsound."""
    _check_shapes(instance)
    _check_start(instance)
    if instance.model.smooth:
        _check_phi(instance)
    _check_domain(instance)
    _check_rewards(instance)
    _check_laws(instance)


def _check_shapes(instance):
    model, features, family = instance.model, instance.model.features, instance.model.family
    check_whole("horizon", instance.horizon)
    for name, value, shape in (
        ("theta_p", instance.theta_p, (model.d,)),
        ("theta_r", instance.theta_r, (model.d,)),
        ("start_masses", instance.start_masses, (model.n_anchors,)),
        ("B", model.B, (features.p,)),
        ("the matrix (tr A_i A_j')", features.trace, features.trace.shape),
    ):
        if np.shape(value) != shape:
            raise WrongShape(f"{name} has shape {np.shape(value)}, it must have {shape}")
        if not np.all(np.isfinite(value)):
            raise InputError(f"{name} has entries that are not finite numbers")
    if features.n_anchors != model.space.n_anchors:
        raise WrongShape(f"the features have {features.n_anchors} states, the space {model.space.n_anchors}")
    if features.p != family.p:
        raise WrongShape(f"the matrices A_i have {features.p} rows, but psi has {family.p} components")
    given, needed = family.log_base.shape[:2], (model.n_anchors, model.n_actions)
    if given not in ((1, 1), needed):
        raise WrongShape(f"the base measure is given for (states, actions) = {given}, the features for {needed}")
    if not isinstance(model.reward, RewardLaw):
        raise InputError(f"reward = {model.reward!r} is not a law of befrl.model.rewards, such as bernoulli.Law()")
    block = getattr(features, "block", np.zeros(1, dtype=int))
    if not np.issubdtype(block.dtype, np.integer) or block.min() < 0 or block.max() >= len(features.trace):
        raise InputError(f"the features' blocks must be whole numbers from 0 to {len(features.trace) - 1}")
    finite = np.isfinite(features.natural(np.ones((1, features.d)))).all(-1)[0]
    _check_each(instance, "the features U are not finite", finite)


def _check_start(instance):
    masses = instance.start_masses
    if np.any(masses < 0) or abs(masses.sum() - 1) > 1e-9:
        raise InputError(f"start_masses sum to {masses.sum():g}, they must be a law on the states")
    u = (np.arange(STARTS) + 0.5) / STARTS
    s = call("start(u)", instance.start, u)
    _check_states("start(u)", instance.model.space, s, u)
    _check_same("start(u)", call("start(u)", instance.start, u[::-1]), s[::-1])
    _check_shares("start(u)", "start_masses", instance, s, masses, error=0.01)


def _check_phi(instance):
    model, anchors = instance.model, instance.model.space.nodes
    if model.phi is None:
        raise InputError("its features vary within cells, so that Model needs phi, a function of the states")
    if not hasattr(model.features, "A") and not hasattr(model.features, "phi"):
        raise InputError("its features vary within cells: they must be made by Model.smooth_in or Features.dense")
    M = model.features.matrix(instance.theta_p)
    shape, needed = call("phi(s)", model.phi, anchors[:1]).shape, (model.n_actions, M.shape[1])
    if shape != (1, *needed):
        raise WrongShape(f"phi at s = {anchors[0]} has shape {shape[1:]}, it must have {needed}")
    table = call("phi(s)", model.phi, anchors)
    _check_same("phi(s)", call("phi(s)", model.phi, anchors[::-1]), table[::-1])
    if not np.allclose(table @ M.T, model.features.natural(instance.theta_p[None])[0]):
        raise InputError("phi does not give the features that the model has on the anchors")


def _check_domain(instance):
    model, space = instance.model, instance.model.space
    with np.errstate(all="ignore"):
        Z = model.family.log_partition(model.features.natural(instance.theta_p[None]))[0]
        _check_each(instance, "the log-partition Z of theta* is not finite", np.isfinite(Z), OutsideDomain)
        finite = np.isfinite(instance.P).all(-1)
    _check_each(instance, "P of theta* is not finite", finite, OutsideDomain)
    if space.unbounded and not model.family.tails_included:
        # The mass beyond the box is far smaller than the mass of its outermost cells.
        edge = instance.P[..., space.outermost].sum(-1)
        _check_each(instance, "the law of theta* leaves the box, which must be larger,", edge < 1e-6, OutsideDomain)


def _check_rewards(instance):
    reward, R = instance.model.reward, instance.R
    _check_each(instance, "the mean reward R of theta* is not finite", np.isfinite(R))
    inside = (R > 0) & (R < 1) if reward.bounded else np.ones(R.shape, dtype=bool)
    _check_each(instance, "the mean reward R of theta* is 0 or 1 to rounding: theta_r is too large", inside)
    c = np.linspace(-1.0, 1.0, 5)
    u, c_of_u = np.meshgrid(_grid(1), c)
    sd = np.sqrt(reward.variance(c))
    for name, found, expected, error in (
        ("mean is not the slope of log_partition", _slope(reward.log_partition, c), reward.mean(c), SLOPE),
        ("variance is not the slope of mean", _slope(reward.mean, c), reward.variance(c), SLOPE),
        ("draws have another mean", reward.quantile(c_of_u, u).mean(1), reward.mean(c), 0.02),
    ):
        if not np.allclose(found / sd, expected / sd, rtol=error, atol=error):
            raise InputError(f"the reward law {type(reward).__name__} contradicts itself: its {name}")


def _slope(function, x):
    return (function(x + STEP) - function(x - STEP)) / (2 * STEP)


def _check_laws(instance):
    """Check at a few (s, a) that Z, the moments, the kernel and the draws of next states are of the same law."""
    model, space = instance.model, instance.model.space
    natural = model.features.natural(instance.theta_p[None])[0]
    draw, u = _sampler(model, natural), _grid(space.dim)
    # The nodes in the outermost cells of an unbounded box do not stand for the mass beyond it.
    inner = ~space.outermost if space.unbounded else np.ones(model.n_anchors, dtype=bool)
    for i, x in enumerate(np.linspace(0, model.n_anchors - 1, PLACES).astype(int)):
        a = i % model.n_actions
        where = f"at (s, a) = ({_state(space, x)}, {a})"
        one, v = model.family.restricted(x, a), natural[x, a]
        logs, Z = (part[0, 0, 0] for part in one.log_masses(v[None, None, None]))
        _check_moments(one, v, where)
        nodes = np.exp(logs + Z - one.log_partition(v[None, None, None])[0, 0, 0])
        wrong = np.abs(np.bincount(space.node_anchor, nodes, model.n_anchors) - instance.P[x, a])[inner].sum()
        if wrong > SHARE:
            raise InputError(f"log_partition and kernel of its family disagree {where}: masses differ by {wrong:.3g}")
        name = f"the draw of a next state {where}"
        s = call(name, lambda u, x=x, a=a: draw(x, a, u), u)
        _check_states(name, space, s, u)
        _check_shares(name, "the kernel", instance, s, instance.P[x, a], 2 * space.dim / len(u) ** (1 / space.dim))


def _sampler(model, natural):
    """draw(anchor, action, u) of next states, as the environment makes it."""
    method = "quantile" if model.smooth else "sampler"
    if not hasattr(model.family, method):
        raise InputError(
            f"the family {type(model.family).__name__} has no `{method}`, which features that are constant on cells "
            "need: use a SmoothBox with phi, or write one (model/families/truncated_exponential.py)"
        )
    if model.smooth:
        return lambda x, a, u: model.family.quantile(np.tile(natural[x, a], (len(u), 1)), u)
    draw = model.family.sampler(natural)
    return lambda x, a, u: draw(np.full(len(u), x), np.full(len(u), a), u)


def _check_moments(one, v, where):
    unit = np.ptp(one.psi, axis=0)
    unit[unit == 0] = 1.0
    steps = STEP * np.concatenate([np.diag(1 / unit), -np.diag(1 / unit)])
    Z, mean, _ = (part[:, 0, 0] for part in one.moments((v + steps)[:, None, None]))
    _, middle, cov = (part[0, 0, 0] for part in one.moments(v[None, None, None]))
    for values, gradient, name in (
        (Z, middle / unit, "E psi is not the gradient of log_partition"),
        (mean / unit, cov / np.outer(unit, unit), "Cov psi is not the gradient of E psi"),
    ):
        if not np.allclose((values[: one.p] - values[one.p :]) / (2 * STEP), gradient, rtol=0, atol=SLOPE):
            raise InputError(f"the moments of its family are wrong {where}: {name}")


def _grid(dim):
    """Midpoints of a grid of uniforms, (n,) or (n, dim)."""
    count = max(LEAST, POINTS // FEWER ** (dim - 1))
    points = (np.arange(count) + 0.5) / count
    return points if dim == 1 else np.stack(np.meshgrid(*[points] * dim), axis=-1).reshape(-1, dim)


def _check_states(name, space, s, u):
    n = len(u)
    shape = (n,) if space.dim == 1 else (n, space.dim)
    if np.shape(s) != shape:
        raise WrongShape(f"{name} has shape {np.shape(s)} for uniforms of shape {u.shape}, it must have {shape}")
    if space.discrete and not np.issubdtype(s.dtype, np.integer):
        raise InputError(f"{name} gives states of type {s.dtype}, they must be whole numbers")
    low, high = (0, space.n_cells - 1) if space.discrete else (space.low, space.high)
    points = s.reshape(n, -1)
    inside = np.isfinite(points) if space.unbounded else (points >= low) & (points <= high)
    for i in np.flatnonzero(~inside.all(1)):
        raise InputError(f"{name} gives {s[i]}, which is outside the state space")


def _check_same(name, again, before):
    if not np.allclose(again, before, rtol=1e-9, atol=1e-12, equal_nan=True):
        rule = "it must depend on its argument alone, entry by entry, and not on random numbers or on the other entries"
        raise InputError(f"{name} gives other values when it is asked again: {rule}")


def _check_shares(name, other, instance, s, masses, error):
    """Raise unless the shares of the states s in the cells are the masses (N,) of their anchors."""
    space = instance.model.space
    shares = np.bincount(space.cell(s), minlength=space.n_cells) / len(s)
    expected = masses.reshape(space.n_cells, -1).sum(-1)
    worst = int(np.argmax(np.abs(shares - expected)))
    drawn, mass = shares[worst], expected[worst]
    if abs(drawn - mass) > SHARE + error:
        found = f"cell {worst} has share {drawn:.3g} by the one and probability {mass:.3g} by the other"
        raise InputError(f"{name} disagrees with {other}: {found}")


def _check_each(instance, sentence, good, kind=InputError):
    """Raise if some (s,a) is not good, (N, A), and name the first."""
    for x, a in np.argwhere(~good):
        raise kind(f"{sentence} at (s, a) = ({_state(instance.model.space, x)}, {a})")


def _state(space, anchor):
    return space.nodes[space.node_anchor == anchor][0]
