"""Make src/befrl/report/math.woff, the font of formulas: python tools/math_font.py STIXTwoMath

STIX Two Math with the characters of the formulas of docs, and the letters that browsers take for variables. It has
neither ASCII nor small Greek letters: formulas of one line have letters of the italic text font, and digits and signs
of this one. The font is in the npm package @fontsource/stix-two-math.
"""

import argparse
import re
import string
import unicodedata
from pathlib import Path

from fontTools import subset

from befrl.report import formulas

PROJECT = Path(__file__).parents[1]
FONT = PROJECT / "src/befrl/report/math.woff"
FORMULA = re.compile(r"\$`(.*?)`\$|```math(.*?)```", re.DOTALL)
LETTERS = [chr(code) for first, last in ("AZ", "az", "ΑΩ", "αω") for code in range(ord(first), ord(last) + 1)]


def characters() -> set[str]:
    """The characters of all formulas, with the italic letters that stand for variables."""
    texts = (path.read_text(encoding="utf-8") for path in sorted(PROJECT.glob("docs/**/*.md")))
    trees = (formulas.parsed(part) for text in texts for pair in FORMULA.findall(text) for part in pair if part)
    found = {char for tree in trees if tree is not None for element in tree.iter() for char in element.text or ""}
    names = (unicodedata.name(char, "").replace("GREEK ", "").replace("LATIN ", "") for char in {*found, *LETTERS})
    italic = (f"MATHEMATICAL ITALIC {name.replace(' LETTER', '')}" for name in names)
    plain = {*string.ascii_letters, *map(chr, range(ord("α"), ord("ω") + 1)), "ϕ", "ϵ"}
    return found - plain | {"ℎ"} | {unicodedata.lookup(name) for name in italic if known(name)}


def known(name) -> bool:
    try:
        return bool(unicodedata.lookup(name))
    except KeyError:
        return False


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("font", type=argparse.FileType("rb"), help="file of STIX Two Math")
    source = parser.parse_args().font.name
    text = "".join(sorted(characters()))
    subset.main([source, f"--text={text}", "--layout-features=ssty", "--flavor=woff", f"--output-file={FONT}"])
