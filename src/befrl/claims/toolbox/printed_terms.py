"""Random constants for the printed terms of Theorem 1."""

CONSTANTS = ("alpha_p", "beta_p", "alpha_r", "beta_r", "eta", "B_phi_A", "A", "B_A", "delta", "c")


def draw_constants(rng, n):
    """Random constants (n,): alpha <= beta, eta, B_phi_A, |bold A|_2, B_A, delta and c."""
    found = {name: 10.0 ** rng.uniform(-1, 1, n) for name in CONSTANTS}
    for i in "pr":
        found[f"beta_{i}"] = found[f"alpha_{i}"] * 10.0 ** rng.uniform(0, 1, n)
    return found | {"delta": 10.0 ** rng.uniform(-6, -0.5, n)}
