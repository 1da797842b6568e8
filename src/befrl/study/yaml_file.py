"""Read a YAML file strictly: text in UTF-8, every key once, and neither too deep nor too large."""

import yaml

from befrl.common import storage
from befrl.common.errors import InputError, one_line, quoted

BYTES, VALUES, DEPTH = 1_000_000, 50_000, 20
MERGE = "tag:yaml.org,2002:merge"


def read_yaml(path):
    """The content of a YAML file; raise an `InputError` of one sentence if it cannot be read."""
    storage.check_source(path)
    try:
        with open(path, "rb") as file:
            content = file.read(BYTES + 1)
        if len(content) > BYTES:
            raise ValueError(f"it has more than {BYTES} bytes")
        text = content.decode()
        if str(path).endswith(".json"):
            text = text.replace("\t", " ")  # not allowed in YAML; JSON has tabs only between values
        _check_size(text)
        return yaml.load(text, Loader=Strict)
    except FileNotFoundError:
        reason = "there is no such file"
    except OSError as error:
        reason = error.strerror
    except UnicodeDecodeError as error:
        reason = f"it is not UTF-8 at byte {error.start}"
    except (ValueError, yaml.YAMLError) as error:
        reason = one_line(error, 300)
    raise InputError(f"config {path} cannot be read: {reason}")


class Strict(yaml.SafeLoader):
    """A loader that rejects duplicate keys, of which YAML's own takes the last."""

    def construct_mapping(self, node, deep=False):
        # Checked before `<<` is replaced by its entries, which the mapping's own may override.
        seen = set()
        for key, _ in node.value if isinstance(node, yaml.MappingNode) else ():
            name = str(key.value if key.tag == MERGE else self.construct_object(key, deep=True))
            if name in seen:
                line = key.start_mark.line + 1
                raise ValueError(f"the key {quoted(name)} in line {line} is given twice: give it once")
            seen.add(name)
        return super().construct_mapping(node, deep)


def _check_size(text):
    """Raise if a text stands for too many values, for too deep ones, or for one that contains itself.

    References make this possible in a short text, so values are counted before they are built.
    """
    stack, sizes = [[None, 0]], {}  # [anchor, values so far] of each open list or mapping; values by anchor
    for event in yaml.parse(text):
        size = 0
        if isinstance(event, yaml.CollectionStartEvent):
            stack.append([event.anchor, 1])
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, size = stack.pop()
            sizes[anchor] = size
        elif isinstance(event, yaml.ScalarEvent):
            size = sizes[event.anchor] = 1
        elif isinstance(event, yaml.AliasEvent):
            if event.anchor in [anchor for anchor, _ in stack]:
                raise ValueError(f"{quoted(event.anchor)} contains itself")
            size = sizes.get(event.anchor, 1)
        stack[-1][1] += size
        if len(stack) > DEPTH:
            raise ValueError(f"it is nested more than {DEPTH} deep")
        if sum(count for _, count in stack) > VALUES:
            raise ValueError(f"it has more than {VALUES} values")
