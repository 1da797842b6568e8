"""The schema in words: error messages, the JSON schema for editors, and the table of `config/README.md`."""

import json
import re
import sys
from functools import cache
from pathlib import Path

from pydantic import ValidationError

from befrl.common.errors import InputError, guess, one_line, quoted
from befrl.study.schema import Config

_json_schema = cache(lambda model: model.model_json_schema())
SCHEMA = _json_schema(Config)
LIMITS = {"minimum": "from", "maximum": "to", "exclusiveMinimum": "above", "exclusiveMaximum": "and below"}
NOUNS = {"string": "a text", "boolean": "true or false", "integer": "a whole number", "number": "a number"}


def validated(config: dict, model=Config) -> dict:
    """The config with all defaults filled in; the first mistake raises an `InputError`."""
    try:
        return model.model_validate(config).model_dump(exclude_none=True)
    except ValidationError as error:
        # An unknown key may be a misspelt one that is missing.
        first = min(error.errors(), key=lambda each: each["type"] != "extra_forbidden")
        raise InputError(one_line(_sentence(first, _json_schema(model)))) from None


def _resolved(sub: dict) -> dict:
    """A part of the schema with its reference followed, and without the alternative null."""
    choices = [choice for choice in sub.get("anyOf", ()) if choice != {"type": "null"}]
    if len(choices) == 1:
        sub = choices[0] | {key: value for key, value in sub.items() if key != "anyOf"}
    if "$ref" in sub:
        sub = SCHEMA["$defs"][sub["$ref"].removeprefix("#/$defs/")]
    return sub


def _below(sub: dict, key) -> dict | None:
    """The part of the schema that a key or index leads to; None if there is no such part."""
    for choice in sub.get("anyOf", [sub]):
        found = choice.get("properties", {}).get(key)
        found = found or (choice.get("items") if isinstance(key, int) else _of_names(choice))
        if found:
            return _resolved(found)
    return None


def _of_names(sub: dict):
    """The schema of the values of a mapping whose keys the user chooses."""
    others = sub.get("additionalProperties")
    return next(iter(sub.get("patternProperties", {}).values()), others if isinstance(others, dict) else None)


def _sentence(error, schema) -> str:
    path, parent, sub = [], {}, schema
    for key in error["loc"]:
        below = _below(sub, key)
        if below is None:
            break
        parent, sub = sub, below
        path.append(key)
    if error["type"] == "missing":
        *path, key = path
        where = _dotted(path)
        return f"{where}: the key '{key}' is missing: required are {', '.join(parent['required'])}"
    where = _dotted(path)
    if error["type"] == "extra_forbidden":
        key = error["loc"][-1]
        allowed = sub["properties"]
        return f"{where}: unknown key {quoted(key)}{guess(key, allowed)}: allowed are {', '.join(allowed)}"
    if error["loc"][-1:] == ("[key]",):
        name = error["loc"][-2]
        allowed = "at most 100 letters, digits, . and -, the first a letter or a digit"
        return f"{_dotted(path[:-1])}: the name {quoted(name)} is not allowed: it must be {allowed}"
    return f"{where} = {quoted(error['input'])} is not allowed: {_allowed(sub)}"


def _dotted(path) -> str:
    return ".".join(quoted(part).strip("'") for part in path) or "config"


def _allowed(sub: dict) -> str:
    if "enum" in sub:
        return f"choose {' or '.join(sub['enum'])}"
    return f"it must be {_kind(sub)}"


def _kind(sub: dict) -> str:
    sub = _resolved(sub)
    if "anyOf" in sub:
        return " or ".join(map(_kind, sub["anyOf"]))
    if "enum" in sub:
        return f"one of {', '.join(sub['enum'])}"
    match sub["type"]:
        case "array":
            different = "different " if "uniqueItems" in sub else ""
            items = _kind(sub["items"]).removeprefix("a ").replace("text", "texts").replace("number", "numbers")
            return f"a list of {_count(sub, 'Items')}{different}{items.replace('one of', 'words out of')}"
        case "object" if "properties" in sub:
            return f"a mapping with the keys {', '.join(sub['properties'])}"
        case "object":
            count = _count(sub, "Properties")
            return f"a mapping with {count}{'entry' if count == 'one ' else 'entries'}" if count else "a mapping"
        case "string" if "pattern" in sub:
            # Names of instances, agents and groups have one too, but they are keys.
            return "a text of letters, digits and the signs _ , . -"
        case "string" if "minLength" in sub:
            return "a non-empty text"
        case kind:
            limits = [f"{word} {sub[key]}" for key, word in LIMITS.items() if key in sub]
            return " ".join([NOUNS[kind], *limits])


def _count(sub, things):
    least, most = (sub.get(f"{end}{things}") for end in ("min", "max"))
    number = "one" if least == 1 else least
    return f"{number} " if least and least == most else f"{number} or more " if least else ""


def keys(sub: dict = SCHEMA, prefix: str = "") -> dict[str, tuple[dict, bool]]:
    """{dotted key: (its part of the schema, whether it is required)}, with names that the user chooses as <name>."""
    found = {}
    for key, part in sub["properties"].items():
        part = _resolved(part)
        named = _resolved(_of_names(part) or {})
        if "properties" in part:
            found |= keys(part, f"{prefix}{key}.")
        elif "properties" in named:
            found |= keys(named, f"{prefix}{key}.<name>.")
        else:
            found[prefix + key] = part, key in sub.get("required", ())
    return found


def table() -> str:
    """The keys with their defaults and meanings, as Markdown."""
    lines = ["| key | default | meaning |", "|---|---|---|"]
    for key, (part, required) in keys().items():
        default = "-" if part.get("default") is None else f"`{json.dumps(part['default'])}`"
        lines.append(f"| `{key}` | {'required' if required else default} | {' '.join(part['description'].split())} |")
    return "\n".join(lines)


def files(folder: Path) -> dict[Path, str]:
    """The files of the folder `config/` that are made from the schema: {path: content}."""
    page = (folder / "README.md").read_text()
    page = re.sub(r"^\| key \|.*?(?=\n\n)", lambda _: table(), page, flags=re.MULTILINE | re.DOTALL)
    return {folder / "schema.json": json.dumps(SCHEMA, indent=2) + "\n", folder / "README.md": page}


if __name__ == "__main__":
    for path, content in files(Path(sys.argv[1])).items():
        path.write_text(content)
