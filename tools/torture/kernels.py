"""Attacks by other processors: the smoke study with BLAS kernels and numpy functions that round differently.

The instances are stored by the processor at hand. All others read them and make the tables of the study again, and
every number of a table differs by rounding alone.
"""

import shutil
import tempfile
from functools import partial
from pathlib import Path

import pandas as pd
import tally
import verify
from kills import OUTPUT, SECONDS, Copy

# Kernels of OpenBLAS, and what the processors of their time lack of what numpy uses.
KERNELS = {
    "Haswell": "X86_V4 AVX512_ICL AVX512_SPR",
    "Zen": "X86_V4 AVX512_ICL AVX512_SPR",
    "Sandybridge": "X86_V3 X86_V4 AVX512_ICL AVX512_SPR",
    "Prescott": "X86_V3 X86_V4 AVX512_ICL AVX512_SPR",
}
RELATIVE, ABSOLUTE = 1e-9, 1e-12
# The instance that attains the worst case of a claim: rounding selects one among equals.
SELECTED = {"claims.csv": ["instance"]}


def attack(kernels=tuple(KERNELS)):
    """A tally of the study's tables under each kernel."""
    found = tally.Tally("tables under other kernels", seconds=SECONDS)
    with tempfile.TemporaryDirectory() as folder:
        copy = Copy(folder)
        copy.finish()
        results = copy.folder / OUTPUT / "results"
        usual = Path(shutil.copytree(results, Path(folder) / "usual"))
        names = [path.relative_to(usual) for path in sorted(usual.rglob("*.csv")) if "timings" not in path.parts]
        for kernel in kernels:
            forget_all_but_instances(copy.folder / OUTPUT)
            copy.environment |= processor(kernel)
            found.judge(f"the study under {kernel}", copy.finish)
            for name in names:
                found.judge(f"{name} under {kernel}", lambda n=name: same(results, usual, n))
    return [found]


def processor(kernel):
    """The environment of a process that computes as another processor does."""
    return {"OPENBLAS_CORETYPE": kernel, "NPY_DISABLE_CPU_FEATURES": KERNELS[kernel]}


def forget_all_but_instances(output):
    shutil.rmtree(output / "figures", ignore_errors=True)
    for path in (output / "results").iterdir():
        if path.name != "instances":
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def same(results, usual, name):
    made, reference = (pd.read_csv(folder / name) for folder in (results, usual))
    for table in (made, reference):
        table.drop(columns=SELECTED.get(str(name), []), inplace=True)
    found = verify.differences(made, reference, partial(verify.rounding, relative=RELATIVE, absolute=ABSOLUTE))
    assert not found, f"{len(found)} numbers differ by more than rounding: {found[0]}"
