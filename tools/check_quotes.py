"""Check that the quotations of docs/claims are verbatim: python tools/check_quotes.py paper.tex

The source's macros are expanded; spaces, line breaks, marks of alignment, sizes of brackets and references are ignored.
`[...]` in a quotation leaves words out. The exit code is 1 if a quotation is not in the source.
"""

import hashlib
import re
import sys
from pathlib import Path

PAGES = Path(__file__).parents[1] / "docs" / "claims"
ARGUMENT = r"\{((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*)\}"
COMMAND = re.compile(r"\\(?:newcommand|def|DeclareMathOperator)\*?\s*\{?\s*\\(\w+)\s*\}?\s*(?:\[(\d)\])?\s*" + ARGUMENT)
# What carries no meaning: layout, references, sizes of brackets, marks of emphasis.
IGNORED = re.compile(
    r"\\(?:label|eqref|ref|cite[pt]?|begin|end|vspace|hspace)\*?(?:\[[^\]]*\])?\{[^}]*\}(?:\[[^\]]*\])?"
    r"|\\(?:left|right|[bB]igg?[lr]?|noindent|nonumber|qquad|quad|textbf|textit|emph|text|underbrace|small|displaystyle"
    r"|item|notag|limits|operatorname|mathrm|texttt|STATE)(?![A-Za-z])|\\[!,:; \\]|[\s~&$`{}*]"
)


def expanded(text: str) -> str:
    """The source without comments, its macros replaced by what they stand for."""
    text = re.sub(r"(?<!\\)%.*", "", text).replace(r"\bigO", r"\mathcal{O}")
    macros = {name: (int(number or 0), body) for name, number, body in COMMAND.findall(text)}
    for _ in range(6):
        for name, (number, body) in macros.items():
            pattern = rf"\\{name}(?![A-Za-z])" + rf"\s*{ARGUMENT}" * number
            text = re.sub(pattern, lambda found, body=body: _filled(body, found.groups()), text)
    return text


def _filled(body, arguments):
    for number, argument in enumerate(arguments, start=1):
        body = body.replace(f"#{number}", argument)
    return f"{{{body}}}" if re.search(r"[A-Za-z]$", body) else body


def bare(text: str) -> str:
    return IGNORED.sub("", text)


def missing(page: str, source: str) -> list[str]:
    """The parts of a page's quotation that the bare source does not contain."""
    quoted = "\n".join(re.findall(r"(?m)^> ?(.*)", page.partition("## The paper")[2].partition("\n## ")[0]))
    parts = [part for part in re.split(r"\[\.\.\.\]|\n\s*\n", quoted) if bare(part)]
    return [part.strip() for part in parts if bare(part) not in source] if parts else ["no quotation"]


def main(path) -> int:
    text = Path(path).read_text(encoding="utf-8")
    if hashlib.sha256(text.encode()).hexdigest() not in (PAGES / "README.md").read_text(encoding="utf-8"):
        print(f"{path} is not the source that docs/claims/README.md names")
    source, wrong = bare(expanded(text)), 0
    for page in sorted(PAGES.glob("C*.md")):
        for part in missing(page.read_text(encoding="utf-8"), source):
            wrong += 1
            print(f"{page.name}: not in the source: {part}")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
