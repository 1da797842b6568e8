"""Formulas of the page: LaTeX between dollar signs becomes MathML, which browsers show without any script."""

import functools
import re
import unicodedata
from xml.etree import ElementTree

from markupsafe import Markup, escape

FORMULA = re.compile(r"\$([^$]+)\$")
MATHML = "{http://www.w3.org/1998/Math/MathML}"
LINKS = ("href", "src", "xlink:href", "actiontype")


def mathematics(text) -> Markup:
    """Text with formulas, safe for the page: `$x_k$` as MathML, everything else escaped, line breaks as spaces."""
    parts = FORMULA.split(" ".join(str(text).split()))
    return Markup("").join(formula(part) if number % 2 else escape(part) for number, part in enumerate(parts))


def paragraphs(text) -> Markup:
    """Paragraphs, separated by blank lines, with their formulas."""
    return Markup("").join(Markup("<p>{}</p>").format(mathematics(part)) for part in str(text).split("\n\n") if part)


@functools.cache
def formula(latex: str) -> Markup:
    """A formula as MathML; what cannot be converted, or would link elsewhere, stays as it is between dollar signs."""
    from latex2mathml import converter

    try:
        tree = ElementTree.fromstring(converter.convert(latex))
    except Exception:  # the converter's errors and those of its output have no common base
        return escape(f"${latex}$")
    if any(name in LINKS or name.startswith("on") for element in tree.iter() for name in element.attrib):
        return escape(f"${latex}$")
    for element in tree.iter():
        element.tag = element.tag.removeprefix(MATHML)  # part of the page, it needs no namespace
        variant = element.attrib.get("mathvariant")
        if variant in ("double-struck", "script", "bold"):  # browsers take the letter itself, not the attribute
            del element.attrib["mathvariant"]
            element.text = "".join(lettered(character, variant) for character in element.text or "")
    return Markup(ElementTree.tostring(tree, encoding="unicode"))


def lettered(character: str, variant: str) -> str:
    """The letter of a mathematical alphabet, such as a double-struck E; the character itself if there is none."""
    case = "CAPITAL" if character.isupper() else "SMALL"
    for name in (f"MATHEMATICAL {variant.upper()} {case} {character.upper()}", f"{variant} {case} {character}".upper()):
        try:
            return unicodedata.lookup(name)
        except KeyError:
            continue
    return character
