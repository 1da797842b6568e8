"""Appendix E: which techniques are there for penalised maximum likelihood, and for which laws."""

from befrl.claims.toolbox import fits
from befrl.claims.toolbox.registry import Evidence, claim
from befrl.claims.toolbox.search import Worst

USES = fits.uses()
CONTINUOUS, BOUNDED = ("sharp", "broad", "gaussian"), ("finite", "sharp", "broad")
LISTED = dict.fromkeys(("ais", "mcmc-mle", "contrastive-divergence", "dual-embedding", "score-matching"), fits.CASES)
LISTED |= {"gaussian": ("gaussian",), "shah": BOUNDED}


@claim(
    "C81",
    statement=r"Penalised maximum likelihood is explicit for Gaussian laws. For the others there are the listed "
    "techniques: the loss of Shah et al. for bounded supports; annealing, MCMC, contrastive divergence, score matching "
    "and dual embedding for all laws of the family.",
    meaning="1 if a technique is not defined for a law that it is listed for",
    repairs={"with score matching for continuous states only": {"scope": LISTED | {"score-matching": CONTINUOUS}}},
    others={"one Newton step on each episode, for all laws": {"scope": {"online-newton": fits.CASES}}},
    mutants={
        "score matching for finite state spaces": {"scope": {"score-matching": ("finite",)}},
        "the closed form for all continuous laws": {"scope": {"gaussian": CONTINUOUS}},
    },
)
def tractable_likelihood(rng, trials, scope=None):
    r"""Score matching differentiates in $s'$, which tabular and factored MDPs do not allow.

    The paper names no accuracy, so none is judged. The details have the errors of all techniques on the same data, as
    multiples of that of maximum likelihood. Two stand out. On a bounded domain the integration by parts of score
    matching leaves a term at the boundary, and without weights another law is the limit. The loss
    $\sum_t\exp(-\theta^\top U_t^\top(\psi(s'_t)-\mathbb E_0\psi))$ of Shah et al. is consistent, but its terms vary by
    $\exp|\theta^\top U^\top\psi|$: a sharp law needs about $\exp\operatorname{KL}(p_0,p_\theta)$ data.

    Correction: The other techniques need samples or values of the density alone, which every law of the family has.

    Attack: The package's estimators on the same random play, 2,000 transitions and $\eta=0.01$: a tabular MDP, sharp
    and broad laws on [0,1], and a linear-Gaussian system.
    """
    ratios, worst = fits.errors(int(rng.integers(2**31)), 6 + trials // 20), Worst()
    for technique, case in [(name, case) for name, cases in (scope or LISTED).items() for case in cases]:
        worst.see(int(ratios[technique, case] is None), {"technique": technique, "laws": case})
    table = {f"{technique}, {case}": ratio for (technique, case), ratio in ratios.items()}
    return Evidence(worst.value, worst.instance, "enumeration", worst.number, details={"error / that of ML": table})
