"""Formulas on the page: MathML where one needs two dimensions, a line of text with indices elsewhere, or plain text."""

import contextlib
import functools
import unicodedata
from xml.etree import ElementTree

from markupsafe import Markup, escape

MATHML = "{http://www.w3.org/1998/Math/MathML}"
LINKS = ("href", "src", "xlink:href", "actiontype")
HIGH = {"mfrac", "msqrt", "mroot", "mtable", "munder", "munderover"}
HIGHER = {"mtable", "munder", "munderover"}  # limits below a sum, and texts below braces
RELATIONS = set("=≤≥<>≠≈∼∝≡∈∉⊂⊆∪∩→↦⟹⇒⇔≪≫+−±:∣") | {"-", "⩽", "⩾"}
SIGNS, BEFORE_SIGN = set("+-−±"), {*RELATIONS, "(", "[", "{", ","}
ACCENTS = {"^": "\u0302", "ˆ": "\u0302", "~": "\u0303", "˜": "\u0303", "¯": "\u0304", "‾": "\u0304", "→": "\u20d7"}
SUB = str.maketrans("0123456789+-=()aehijklmnoprstuvx", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ")
SUP = str.maketrans("0123456789+-=()abcdefghijklmnoprstuvwxyz", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ")


@functools.cache
def formula(latex: str) -> Markup:
    """A formula as MathML if it is higher than a line, else as HTML; what cannot be converted stays as it is."""
    tree = parsed(latex)
    if tree is None:
        return escape(f"${latex}$")
    tags = {element.tag for element in tree.iter()}
    if tags & HIGH:
        if tags & HIGHER or tree.find(".//mfrac//mfrac") is not None:
            tree.set("displaystyle", "true")
        return Markup(ElementTree.tostring(tree, encoding="unicode"))
    line = _line(tree, _html)
    return Markup("<i>{}</i>").format(line) if any(element.tag == "mi" for element in tree.iter()) else line


@functools.cache
def plain(latex: str) -> str:
    """A formula as one line of text without markup: x_k², (a + b)/2."""
    tree = parsed(latex)
    return f"${latex}$" if tree is None else str(_line(tree, _text))


@functools.cache
def parsed(latex: str):
    """The MathML tree of a formula; None if it cannot be converted, or would link elsewhere."""
    from latex2mathml import converter

    try:
        tree = ElementTree.fromstring(converter.convert(latex))
    except Exception:  # the converter's errors and those of its output have no common base
        return None
    if any(name in LINKS or name.startswith("on") for element in tree.iter() for name in element.attrib):
        return None
    for element in tree.iter():
        element.tag = element.tag.removeprefix(MATHML)  # part of the page, it needs no namespace
        variant = element.attrib.get("mathvariant")
        if variant in ("double-struck", "script", "bold"):  # browsers take the letter itself, not the attribute
            del element.attrib["mathvariant"]
            element.text = "".join(lettered(character, variant) for character in element.text or "")
    for element in tree.iter():  # rows inside rows need no element
        while any(child.tag == "mrow" for child in element) and element.tag in ("math", "mrow"):
            element[:] = [part for child in element for part in (child if child.tag == "mrow" else [child])]
    return tree


def lettered(character: str, variant: str) -> str:
    """The letter of a mathematical alphabet, such as a double-struck E; the character itself if there is none."""
    name = f"{variant} {'CAPITAL' if character.isupper() else 'SMALL'} {character}".upper()
    for full in (f"MATHEMATICAL {name}", name):
        with contextlib.suppress(KeyError):
            return unicodedata.lookup(full)
    return character


def _html(base, sub, sup):
    """A base with its indices as markup."""
    marks = (("sub", sub), ("sup", sup))
    return base + Markup("").join(Markup(f"<{tag}>{{}}</{tag}>").format(index) for tag, index in marks if index)


def _text(base, sub, sup):
    """A base with its indices in small letters if Unicode has them all, else after _ and ^."""
    for index, small, mark in ((sub, SUB, "_"), (sup, SUP, "^")):
        if index:
            long = index if len(index) == 1 else f"{{{index}}}"
            base += index.translate(small) if all(ord(letter) in small for letter in index) else mark + long
    return base


def _line(element, scripted):
    """An element of MathML as one line; `scripted` writes a base with its indices."""
    none = Markup("") if scripted is _html else ""
    parts = [_line(child, scripted) for child in element]
    for i, child in enumerate(element):
        before = element[i - 1].text if i and element[i - 1].tag == "mo" else None
        if child.tag == "mo" and (not i or (before in BEFORE_SIGN and child.text in SIGNS)):
            parts[i] = parts[i].strip()  # a sign, not an operation
    match element.tag:
        case "mi" | "mtext" if scripted is _html and len(element.text or "") > 1:
            return Markup("<span>{}</span>").format(element.text)  # a name such as log, or a word
        case "mi" | "mn" | "mtext":
            return none + (element.text or "")
        case "mo":
            sign = element.text or ""
            return none + (f" {sign} " if sign in RELATIONS else f"{sign} " if sign == "," else sign)
        case "mspace":
            return none + " "
        case "msub" | "munder":
            return scripted(parts[0], parts[1].strip(), none)
        case "msup":
            return scripted(parts[0], none, parts[1].strip())
        case "mover" if parts[1].strip() in ACCENTS and len(parts[0]) == 1:
            return parts[0] + ACCENTS[parts[1].strip()]
        case "mover":
            return scripted(parts[0], none, parts[1].strip())
        case "msubsup" | "munderover":
            return scripted(parts[0], parts[1].strip(), parts[2].strip())
        case "mfrac":
            return _grouped(parts[0]) + "/" + _grouped(parts[1])
        case "msqrt":
            return none + "√" + _grouped(none.join(parts))
        case "mtable":
            return none + "; ".join(map(str, parts)) if scripted is _text else none.join(parts)
        case _:
            return none.join(parts)


def _grouped(text):
    """In parentheses, if it is more than a name or a number."""
    return text if str(text).isalnum() else "(" + text + ")"
