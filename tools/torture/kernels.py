"""Other processors: the smoke study with BLAS kernels and numpy functions that round differently.

The instances are stored by the processor at hand. All others read them and make the tables of the study again, and
every number of a table differs by rounding alone.
"""

import shutil
import tempfile
from functools import partial
from pathlib import Path

import pandas as pd
from kills import OUTPUT, SECONDS, Copy
from outcomes import Outcomes

import verify

# Kernels of OpenBLAS, and the features of newer processors that numpy must not use.
KERNELS = {
    "Haswell": "X86_V4 AVX512_ICL AVX512_SPR",
    "Zen": "X86_V4 AVX512_ICL AVX512_SPR",
    "Sandybridge": "X86_V3 X86_V4 AVX512_ICL AVX512_SPR",
    "Prescott": "X86_V3 X86_V4 AVX512_ICL AVX512_SPR",
}
RELATIVE, ABSOLUTE = 1e-9, 1e-12


def processor(kernel):
    """The environment of a process that computes as another processor does."""
    return {"OPENBLAS_CORETYPE": kernel, "NPY_DISABLE_CPU_FEATURES": KERNELS[kernel]}


def compare(results, usual, name):
    # The instance that attains the worst case of a claim is one among equals.
    skipped = ["instance"] if name.name == "claims.csv" else []
    allowed = partial(verify.rounding, relative=RELATIVE, absolute=ABSOLUTE)
    found = verify.differences(*(pd.read_csv(folder / name) for folder in (results, usual)), allowed, skipped)
    assert not found, f"{len(found)} numbers differ by more than rounding: {found[0]}"


def inject(number):
    """Outcomes of the study's tables under the first kernels."""
    found = Outcomes("tables under other kernels", seconds=SECONDS)
    with tempfile.TemporaryDirectory() as folder:
        copy = Copy(folder)
        copy.finish()
        results = copy.folder / OUTPUT / "results"
        usual = Path(shutil.copytree(results, Path(folder) / "usual"))
        names = [path.relative_to(usual) for path in sorted(usual.rglob("*.csv")) if "timings" not in path.parts]
        for kernel in list(KERNELS)[:number]:
            for path in [results.parent / "figures", *results.iterdir()]:
                if path.name != "instances":
                    shutil.rmtree(path) if path.is_dir() else path.unlink()
            copy.environment |= processor(kernel)
            found.count(f"the study under {kernel}", copy.finish)
            for name in names:
                found.count(f"{name} under {kernel}", partial(compare, results, usual, name))
    return [found]
