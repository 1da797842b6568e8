"""Checks of the functions and tables that a user's MDP is made of: phi, psi, the base measure and the first state.

A wrong one is refused in one sentence when the MDP is built, and not by a broadcasting error in the middle of a run.
"""

import numpy as np

from befrl.common.errors import InputError, one_line
from befrl.model.features import WrongShape


def numbers(name, values):
    """The values as an array of floats."""
    try:
        return np.ascontiguousarray(values, dtype=float)
    except (TypeError, ValueError):
        raise WrongShape(f"{name} is not an array of numbers") from None


def call(name, function, x):
    """function(x) as an array; raise a sentence that names the function if it fails."""
    try:
        return np.asarray(function(x))
    except Exception as error:
        if isinstance(error, InputError):
            raise
        raise InputError(
            f"{name} fails on an array of shape {np.shape(x)} ({type(error).__name__}: {one_line(error)}): "
            "write it with numpy functions, which take arrays"
        ) from error


def check_pointwise(name, function, states, table):
    """Raise unless a function of the state takes any leading axes and depends on the state alone.

    `table` (G, ...) holds its values on the states (G, ...); some of them are asked for again, in two rows of three.
    """
    some = np.linspace(0, len(states) - 1, 6).astype(int).reshape(2, 3)
    again = call(name, function, states[some])
    if again.shape != table[some].shape:
        raise WrongShape(
            f"{name} has shape {again.shape} for states of shape {states[some].shape}, it must have "
            f"{table[some].shape}: keep the leading axes of the states, and put the components of psi last"
        )
    check_same(name, again, table[some])


def check_same(name, again, before):
    """Raise unless the values for the same input are the same up to rounding."""
    if not np.allclose(again, before, rtol=1e-9, atol=1e-12, equal_nan=True):
        raise InputError(
            f"{name} gives other values when it is asked again: it must depend on its argument alone, entry by entry, "
            "and not on random numbers or on the other entries"
        )


def statistic_table(space, psi):
    """psi on the nodes of a space as numbers, (G, p)."""
    psi = numbers("psi", psi)
    G = len(space.nodes)
    if psi.ndim != 2 or len(psi) != G or psi.size == 0:
        raise WrongShape(
            f"psi (`statistic`) has shape {psi.shape} on the {G} nodes of the space, it must have ({G}, p)"
        )
    bad = np.flatnonzero(~np.isfinite(psi).all(1))
    if len(bad):
        raise InputError(f"psi (`statistic`) is not finite at s' = {space.nodes[bad[0]]}")
    return psi


def base_table(space, log_base):
    """The log base measure on the nodes of a space, (1, 1, G) or (N, A, G); it need not be normalised."""
    log_base = numbers("the log base measure", log_base)
    G = len(space.nodes)
    if log_base.ndim not in (1, 3) or log_base.shape[-1] != G:
        raise WrongShape(
            f"the log base measure (`log_base`, `log_base_at`) has shape {log_base.shape} on the {G} nodes of the "
            f"space, it must have ({G},) or, by state and action, (states, actions, {G})"
        )
    log_base = log_base if log_base.ndim == 3 else log_base[None, None]
    bad = np.argwhere(np.isnan(log_base) | (log_base == np.inf))
    if len(bad):
        raise InputError(
            f"the log base measure (`log_base`, `log_base_at`) is {log_base[tuple(bad[0])]} at s' = "
            f"{space.nodes[bad[0][-1]]}: it must be a number, or -inf where no next state can be"
        )
    empty = np.argwhere((log_base == -np.inf).all(-1))
    if len(empty):
        raise InputError(
            f"the base measure of (s, a) = ({empty[0][0]}, {empty[0][1]}) is zero: it allows no next state"
        )
    return log_base


def check_states(name, space, s, u):
    """Raise unless s are states of a space, one for each of the uniforms u."""
    n = len(u)
    shape = (n,) if space.dim == 1 else (n, space.dim)
    if np.shape(s) != shape:
        raise WrongShape(f"{name} has shape {np.shape(s)} for uniforms of shape {u.shape}, it must have {shape}")
    if space.discrete and not np.issubdtype(s.dtype, np.integer):
        raise InputError(f"{name} gives states of type {s.dtype}, they must be whole numbers")
    low, high = (0, space.n_cells - 1) if space.discrete else (space.low, space.high)
    if space.unbounded:
        low, high = -np.finfo(float).max, np.finfo(float).max
    points = s.reshape(n, -1)
    bad = np.flatnonzero(~((points >= low) & (points <= high)).all(1))
    if len(bad):
        raise InputError(f"{name} gives {s[bad[0]]}, which is outside the state space")
