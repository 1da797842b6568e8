"""Preparing an SVG drawing to be inlined in a page with others, or to be shown as an image.

Ids and <style> rules are global in a page, so ids and references get the drawing's own prefix and rules are confined to
it. Only elements, attributes and properties that matplotlib writes are kept: none of these can load or run anything.
A drawing is made smaller: coordinates have two decimals, ids are short, ids without references and empty groups go, and
consecutive shapes of one style share it.
"""

import itertools
import re
import urllib.parse
import xml.etree.ElementTree as ElementTree

from befrl.common.errors import InputError
from befrl.report import wording

SVG, XLINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}"
XML = "{http://www.w3.org/XML/1998/namespace}"
ELEMENTS = set(
    "svg g defs use path rect circle image text tspan style title clipPath pattern mask linearGradient radialGradient "
    "stop".split()
)
ATTRIBUTES = set(  # besides ids and references
    "d x y x1 x2 y1 y2 r cx cy fx fy dx dy width height transform viewBox version type class offset role aria-label "
    "xml:space patternUnits patternTransform gradientUnits gradientTransform preserveAspectRatio".split()
)
PROPERTIES = set(
    "fill fill-opacity fill-rule stroke stroke-width stroke-opacity stroke-linejoin stroke-linecap stroke-dasharray "
    "stroke-dashoffset stroke-miterlimit opacity color clip-path clip-rule mask stop-color stop-opacity "
    "image-rendering text-anchor font font-size font-style font-weight font-stretch font-variant".split()
)
IMAGE = "data:image/png;base64,"
CLAIM = re.compile(r"\.\./docs/claims/(\w+)\.md")  # a link of the map of claims; on the page, to the claim's entry
AXES = re.compile(r"axes_(\d+)")  # ids of panels
CURVE = "curve:"  # ids of curves and of their entries in legends start with it, see befrl.figures.support.names
FONTS = "'DejaVu Sans', 'Bitstream Vera Sans', Verdana, sans-serif"
REFERENCE = re.compile(r"""url\(\s*(['"]?)(.*?)\1\s*\)""", re.IGNORECASE)
KEPT = ' /:;=?@!$()*+,."<>[]{}|~'  # characters that need no escape in the address of an image, in an attribute in '
WORDS = ("text", "tspan", "title")
SHAPES = ("path", "use", "text")
LEVEL = re.compile(r"rotate\(-?0( [^)]*)?\)")
HARMLESS = re.compile(r"""(url\(#[\w.:-]*\)|[\w\s#.,%'"+-])*""")


def inline(text: str, title: str, scope: str, source: str) -> str:
    """The SVG as an element for HTML, named `title` for screen readers; `source` names the figure in errors.

    `scope` is the id of the element that the caller puts around it; inner ids become `scope__0`, `scope__1`, ...
    """
    root = _drawing(text, scope, source)
    role = "img" if root.find(".//a") is None else "group"  # parts of an image cannot be reached by the keyboard
    root.attrib |= {"role": role, "aria-label": title}
    return ElementTree.tostring(root, encoding="unicode")


def image(text: str, scope: str, source: str) -> str:
    """The SVG as an address for an image, whose parts are no elements of the page until its script makes them some."""
    root = _drawing(text, scope, source)
    root.set("xmlns", SVG[1:-1])
    return "data:image/svg+xml," + urllib.parse.quote(ElementTree.tostring(root, encoding="unicode"), safe=KEPT)


def _drawing(text, scope, source):
    """The root element of an SVG text, cleaned."""
    if "<!ENTITY" in text:
        raise InputError(f"figure '{source}' is not SVG that befrl wrote: it declares entities")
    try:
        root = ElementTree.fromstring(text.strip())
        if root.tag.removeprefix(SVG) != "svg":
            raise InputError(f"figure '{source}' is not SVG: its root element is '{root.tag}'")
        used = dict.fromkeys(re.findall(r"#([\w:.-]+)", text))
        names = {id: f"{scope}__{number}" for number, id in enumerate(used)}
        _clean(root, scope, names, seen=set())
    except ElementTree.ParseError as error:
        raise InputError(f"figure '{source}' is not well-formed SVG: {error}") from None
    except RecursionError:
        raise InputError(f"figure '{source}' is not SVG that befrl wrote: it is nested too deeply") from None
    for old_title in root.findall("title"):
        root.remove(old_title)
    # With a viewBox, narrow windows scale the drawing instead of cropping it. User units are px; 3 pt are 4 px.
    sizes = [re.fullmatch(r"\s*([\d.]+)\s*(px|pt)?\s*", root.get(side, "")) for side in ("width", "height")]
    if "viewBox" not in root.attrib and all(sizes):
        width, height = (float(size[1]) * (4 / 3 if size[2] == "pt" else 1) for size in sizes)
        root.set("viewBox", f"0 0 {width:g} {height:g}")
    root.set("font-family", FONTS)
    root.tail = None
    return root


def _clean(element, scope, names, seen):
    """Remove elements that are not SVG, such as an editor's notes, and the namespace of the rest, as in HTML.

    `names` are the new ids of the elements that are referred to.
    """
    element.tag = element.tag.removeprefix(SVG)
    element.attrib = _attributes(element.attrib, names, seen)
    if element.tag == "style":
        element.text = _confined(element.text or "", scope, names)
    children = [child for child in element if child.tag.removeprefix(SVG) in ELEMENTS or _leads_to_a_claim(child)]
    for child in children:
        _clean(child, scope, names, seen)
        if element.tag not in WORDS:
            child.tail = None
    if element.tag not in (*WORDS, "style"):
        element.text = None
    # Groups without attributes, and links without a text to name them, are replaced by what they contain.
    silent = [child.tag == "a" and not "".join(child.itertext()).strip() for child in children]
    empty = [(child.tag == "g" and not child.attrib) or none for child, none in zip(children, silent, strict=True)]
    groups = [list(child) if bare else [child] for child, bare in zip(children, empty, strict=True)]
    element[:] = [child for group in groups for child in group if child.tag != "defs" or len(child)]
    if element.tag in ("svg", "g", "a"):
        _share(element)


def _share(element):
    """Write a style and a clip path that consecutive shapes have in common once, on a group around them."""
    runs = itertools.groupby(element, _common)
    runs = [(common, list(children)) for common, children in runs]
    whole = len(runs) == 1 and element.tag == "g" and not {"style", "clip-path"} & set(element.attrib)
    found = []
    for common, children in runs:
        if not common or len(children) == 1:
            found += children
            continue
        for child, name in itertools.product(children, common):
            del child.attrib[name]
        if whole:
            element.attrib |= common
            found += children
        else:
            found.append(ElementTree.Element("g", common))
            found[-1].extend(children)
    element[:] = found


def _common(shape) -> dict:
    """What a shape may share with its neighbours; the opacity of a group is not that of its parts."""
    style = shape.get("style", "")
    if shape.tag not in SHAPES or "id" in shape.attrib or re.search(r"(^|;)opacity", style):
        return {}
    names = ("style",) if "transform" in shape.attrib else ("style", "clip-path")
    return {name: shape.attrib[name] for name in names if name in shape.attrib}


def _leads_to_a_claim(element):
    return element.tag == SVG + "a" and bool(CLAIM.fullmatch(element.get(XLINK + "href", "")))


def _attributes(attributes, names, seen):
    kept = {}
    for name, value in attributes.items():
        name = name.replace(XML, "xml:")
        if name == "id":
            if value.startswith(CURVE):
                kept["data-curve"] = value.removeprefix(CURVE)
            elif panel := AXES.fullmatch(value):
                kept["data-axes"] = panel[1]
            elif value in names and value not in seen:
                seen.add(value)
                kept["id"] = names[value]
        elif name in ("href", XLINK + "href"):
            if value.startswith("#"):
                kept["href"] = f"#{names.get(value[1:], '')}"
            elif value.startswith(IMAGE):
                kept["href"] = value
            elif claim := CLAIM.fullmatch(value):
                kept["href"] = f"#claim-{wording.slug(claim[1])}"
        elif name == "style":
            kept[name] = _declarations(value, names)
        elif name in PROPERTIES and HARMLESS.fullmatch(_references(value, names)):
            kept[name] = _references(value, names)
        elif name == "d":
            kept[name] = re.sub(r" ?([A-Za-z]) ?", r"\1", _rounded(value))
        elif name in ATTRIBUTES and not (name == "transform" and LEVEL.fullmatch(value)):
            kept[name] = _rounded(value)
    return kept


def _rounded(value):
    """The value with at most two decimals, single blanks, and no line from a point to itself."""
    shorter = re.sub(r"-?\d+\.\d{3,}(?![\de])", lambda found: f"{float(found[0]):.2f}".rstrip("0").rstrip("."), value)
    return re.sub(r"( L [\d.-]+ [\d.-]+)\1+(?= |$)", r"\1", " ".join(shorter.split()))


def _declarations(css, names):
    """The declarations `property: value` of known properties, with values that refer to nothing outside."""
    kept = []
    for declaration in css.split(";"):
        name, _, value = declaration.partition(":")
        value = _references(value.strip(), names)
        if name.strip() in PROPERTIES and HARMLESS.fullmatch(value):
            kept.append(f"{name.strip()}:{value}")
    return ";".join(kept)


def _references(value, names):
    """The value with the new ids in url(#id); any other url() is cut."""
    return REFERENCE.sub(
        lambda found: f"url(#{names[found[2][1:]]})" if found[2][:1] == "#" and found[2][1:] in names else "none", value
    )


def _confined(css, scope, names):
    """The style rules with every selector below `#scope`, without at-rules (imports, fonts, media)."""
    css = re.sub(r"/\*.*?\*/", "", css, flags=re.DOTALL)
    css = re.sub(r"@[^{};]*(;|\{(?:[^{}]|\{[^{}]*\})*\})", "", css)
    rules = []
    for selectors, body in re.findall(r"([^{}]+)\{([^{}]*)\}", css):
        renamed = re.sub(r"#([\w-]+)", lambda found: f"#{names.get(found[1], scope)}", selectors)
        confined = ", ".join(f"#{scope} {selector.strip()}" for selector in renamed.split(","))
        rules.append(f"{confined} {{{_declarations(body, names)}}}")
    return "\n".join(rules)
