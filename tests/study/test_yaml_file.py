"""Config files: what a YAML text may contain, and the error message for anything else."""

import json
import os

import pytest

from befrl.common.errors import InputError
from befrl.study.yaml_file import DEPTH, VALUES, read_yaml

BOMB = "a0: &a0 [1]\n" + "".join(f"a{i + 1}: &a{i + 1} [{', '.join([f'*a{i}'] * 9)}]\n" for i in range(7))
MAPPING_BOMB = "a0: &a0 {x: 1}\n" + "".join(f"a{i + 1}: &a{i + 1} {{x: *a{i}, y: *a{i}}}\n" for i in range(20))
HOSTILE = {
    "a list that contains itself": ("a: &a [1, *a]", "'a' contains itself"),
    "a mapping that contains itself": ("a: &a {b: {c: *a}}", "'a' contains itself"),
    "a deep list": ("a: " + "[" * 3000 + "]" * 3000, f"nested more than {DEPTH} deep"),
    "deep mappings": ("\n".join(" " * i + "a:" for i in range(1000)), f"nested more than {DEPTH} deep"),
    "lists of lists": (BOMB, f"more than {VALUES} values"),
    "mappings of mappings": (MAPPING_BOMB, f"more than {VALUES} values"),
    "many values": ("a: [" + "1," * (VALUES + 1) + "]", f"more than {VALUES} values"),
    "many bytes": ("#" * 2_000_000, "more than 1000000 bytes"),
    "a key twice": ("seeds: 3\nties: first\nseeds: 4\n", "the key 'seeds' in line 3 is given twice"),
    "a key twice, deep": ("study: {a: {x: 1, x: 1}}", "the key 'x' in line 1 is given twice"),
    "a number and a text": ('1: a\n"1": b\n', "the key '1' in line 2 is given twice"),
    "two ways to write a number": ("1: a\n0x1: b\n", "the key '1' in line 2 is given twice"),
    "a list as key": ("? [a, b]\n: 1\n", "cannot be read"),
    "an unknown anchor": ("a: *b", "cannot be read"),
    "5,000 digits": (f"a: {'1' * 5000}", "cannot be read"),
    "an object": ("a: !!python/object/apply:os.system [ls]", "cannot be read"),
    "several documents": ("a: 1\n---\nb: 2\n", "cannot be read"),
    "control characters": ("a: \x07", "cannot be read"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_file_is_rejected_in_one_short_sentence(tmp_path, name):
    path, (text, words) = tmp_path / "study.yaml", HOSTILE[name]
    path.write_text(text)
    with pytest.raises(InputError) as error:
        read_yaml(path)
    message = str(error.value)
    assert message.startswith(f"config {path} cannot be read: ") and words in message
    assert "\n" not in message and len(message) < 500


def test_unreadable_file_is_rejected_with_the_reason(tmp_path):
    (tmp_path / "latin.yaml").write_bytes("a: größe".encode("latin-1"))
    (tmp_path / "folder").mkdir()
    os.symlink("loop", tmp_path / "loop")
    reasons = {"none.yaml": "no such file", "latin.yaml": "not UTF-8 at byte 5", "folder": "Is a directory"}
    for name, words in (reasons | {"loop": "Too many levels"}).items():
        with pytest.raises(InputError, match=f"{name} cannot be read: .*{words}"):
            read_yaml(tmp_path / name)


def test_anchors_merges_and_json_are_read(tmp_path):
    """Own entries override merged ones; JSON may have tabs between its values."""
    path, a = tmp_path / "study.yaml", {"x": 1, "y": 2}
    path.write_text("a: &a {x: 1, y: 2}\nb: {<<: *a, y: 3}\nc: *a\nd: [*a, *a]\n")
    assert read_yaml(path) == {"a": a, "b": {"x": 1, "y": 3}, "c": a, "d": [a, a]}
    value = {"a": [1, {"b": None}], "c": "tab\there", "d": 1.5}
    (tmp_path / "study.json").write_text(json.dumps(value, indent="\t"))
    assert read_yaml(tmp_path / "study.json") == value
