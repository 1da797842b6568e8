"""Result files: whole or not at all, the same bytes every time, and a sentence with the path when they are bad."""

import os
import resource
import zipfile
from pathlib import Path

import numpy as np
import pytest

from befrl.common import storage, tidy
from befrl.common.errors import InputError
from befrl.experiment import run_file

# numpy leaves a bad zip file open until it is collected.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
ARRAYS = {
    "regret": np.array([[0.1, np.nan, -np.inf], [1e-320, -0.0, np.pi]]),
    "counts": np.arange(6, dtype=np.int64).reshape(3, 2),
    "empty": np.empty((0, 4)),
}
META = {"name": "größe ξ", "seeds": [0, 1], "nested": {"x": 0.1, "none": None}}


@pytest.fixture
def path(tmp_path):
    """A good file of kind 'run'."""
    path = tmp_path / "block.npz"
    storage.write_arrays(path, "run", ARRAYS, META)
    return path


def refused(path, *words):
    """The sentence by which `read_arrays` refuses a file; it names the file."""
    with pytest.raises(InputError) as refusal:
        storage.read_arrays(path, "run")
    text = str(refusal.value)
    assert text.startswith(f"{path}: ")
    assert [word for word in words if word not in text] == []


# Writing.


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, SystemExit])
def test_a_failing_writer_leaves_the_old_file_and_nothing_else(tmp_path, error):
    path = tmp_path / "table.csv"
    storage.write_text(path, "old")
    with pytest.raises(error), storage.replacing(path) as file:
        file.write(b"half of the n")
        file.flush()
        raise error
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["table.csv"]


def test_a_failing_writer_makes_no_file(tmp_path):
    with pytest.raises(ValueError, match="not JSON compliant"):
        storage.write_json(tmp_path / "a" / "claim.json", {"worst_case": float("nan")})
    with pytest.raises(RuntimeError), storage.replacing(tmp_path / "b" / "table.csv"):
        raise RuntimeError
    assert [name for _, _, files in os.walk(tmp_path) for name in files] == []


def test_until_it_is_finished_a_file_keeps_its_old_content(tmp_path):
    path = tmp_path / "table.csv"
    storage.write_text(path, "old")
    with storage.replacing(path) as file:
        file.write(b"new")
        file.flush()
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert os.listdir(tmp_path) == ["table.csv"]


def test_files_are_as_readable_as_the_umask_says(tmp_path):
    before = os.umask(0o027)
    try:
        storage.write_text(tmp_path / "table.csv", "text")
    finally:
        os.umask(before)
    assert (tmp_path / "table.csv").stat().st_mode & 0o777 == 0o640


def test_text_and_json_come_back(tmp_path):
    storage.write_json(tmp_path / "new" / "folder" / "claim.json", META)
    assert storage.read_json(tmp_path / "new" / "folder" / "claim.json") == META


# Where no file may be written.


@pytest.fixture
def special(tmp_path):
    """A pipe, a device, a folder, and symbolic links to them and to each other."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for name, target in {"to-pipe": "pipe", "to-null": "/dev/null", "to-folder": "folder", "a": "b", "b": "a"}.items():
        (tmp_path / name).symlink_to(target)
    return tmp_path


@pytest.mark.parametrize("name", ["pipe", "folder", "to-pipe", "to-null", "to-folder", "a", "/dev/null"])
def test_what_is_no_regular_file_is_refused_and_stays_what_it_is(special, name):
    before = {path.name: path.lstat().st_mode for path in special.iterdir()}
    for write in (storage.check_target, lambda path: storage.write_text(path, "text")):
        with pytest.raises(InputError, match=f"{name}: cannot be written"):
            write(special / name)
    assert {path.name: path.lstat().st_mode for path in special.iterdir()} == before
    assert Path("/dev/null").is_char_device()


def test_a_symbolic_link_stays_one_and_its_target_is_written(tmp_path):
    (tmp_path / "there").mkdir()
    for name in ("old", "new"):
        (tmp_path / name).symlink_to(f"there/{name}")
    (tmp_path / "there" / "old").write_text("before")
    for name in ("old", "new"):
        storage.write_text(tmp_path / name, "text")
        assert (tmp_path / name).is_symlink()
        assert (tmp_path / "there" / name).read_text() == "text"
    assert sorted(os.listdir(tmp_path / "there")) == ["new", "old"]


def test_the_longest_name_is_written_and_a_longer_one_refused_before_the_work(tmp_path):
    storage.write_text(tmp_path / ("é" * 127 + "a"), "text")
    assert len(os.listdir(tmp_path)) == 1
    for path in ("é" * 128, "a" * 256, "a" * 256 + "/table.csv", "/".join(["a"] * 5000), "a/" * 101 + "b", "a\0b"):
        with pytest.raises(InputError, match="cannot be written"):
            storage.check_target(tmp_path / path)


@pytest.mark.parametrize("kind", ["text", "arrays"])
def test_a_full_disk_is_a_sentence_and_costs_nothing(tmp_path, kind):
    """A limit on the size of files fails as a full disk does: in the middle of a write."""
    path = tmp_path / "file"
    path.write_text("old")
    noise = np.random.default_rng(0).random(4000)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, before[1]))
    try:
        with pytest.raises(InputError, match=r"file: cannot be written \(File too large\)"):
            if kind == "text":
                storage.write_text(path, "x" * 20_000)
            else:
                storage.write_arrays(path, "run", {"regret": noise}, {})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["file"]


# Arrays.


def test_arrays_come_back_bit_by_bit_and_meta_as_it_was(path):
    arrays, meta = storage.read_arrays(path, "run")
    assert set(arrays) == set(ARRAYS)
    for key, array in ARRAYS.items():
        assert arrays[key].dtype == array.dtype
        assert arrays[key].shape == array.shape
        assert arrays[key].tobytes() == array.tobytes()
    assert meta == {"format": storage.FORMAT, "kind": "run", **META}
    assert storage.read_meta(path, "run") == meta


def test_the_same_content_is_the_same_bytes(path):
    other = path.with_name("other.npz")
    storage.write_arrays(other, "run", ARRAYS, META)
    assert other.read_bytes() == path.read_bytes()
    with zipfile.ZipFile(path) as stored:
        assert {entry.date_time for entry in stored.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_numbers_that_json_has_no_word_for_are_not_written(tmp_path):
    with pytest.raises(ValueError, match="not JSON compliant"):
        storage.write_arrays(tmp_path / "block.npz", "run", ARRAYS, {"seconds": float("inf")})
    assert os.listdir(tmp_path) == []


# Bad files.


def test_a_missing_file_is_named_and_nobody_is_told_to_delete_it(tmp_path):
    (tmp_path / "file").touch()
    for read in (lambda path: storage.read_arrays(path, "run"), storage.read_json, tidy.read):
        for folder in (tmp_path, tmp_path / "file"):
            with pytest.raises(InputError, match=r"nowhere: there is no such file$"):
                read(folder / "nowhere")


def test_a_folder_is_refused(tmp_path):
    refused(tmp_path, "not a befrl run file")


def test_a_file_cut_short_anywhere_is_refused(path):
    whole = path.read_bytes()
    for length in range(0, len(whole), 7):
        path.write_bytes(whole[:length])
        refused(path, "truncated", "delete it and run again")


def test_a_damaged_file_is_refused_or_read_whole(path, rng):
    """Single bytes are set at random; the zip's checksums see those that matter."""
    whole = path.read_bytes()
    refusals = 0
    for _ in range(400):
        damaged = bytearray(whole)
        damaged[rng.integers(len(whole))] = rng.integers(256)
        path.write_bytes(damaged)
        try:
            arrays, _ = storage.read_arrays(path, "run")
        except InputError as error:
            assert str(path) in str(error)
            refusals += 1
        else:
            assert all(arrays[key].tobytes() == ARRAYS[key].tobytes() for key in ARRAYS)
    assert refusals > 100


def test_text_is_refused(path):
    path.write_text("episode,regret\n1,0.5\n")
    refused(path, "not a befrl run file")


def test_another_packages_npz_is_refused(path):
    np.savez(path, regret=np.zeros(3))
    refused(path, "not a befrl run file")


@pytest.mark.parametrize("meta", [np.zeros(3), np.frombuffer(b"[]", np.uint8), np.frombuffer(b"{}", np.uint8)])
def test_an_npz_whose_meta_is_something_else_is_refused(path, meta):
    np.savez(path, meta=meta)
    refused(path, "not a befrl run file")


def test_a_single_array_is_refused(path):
    with open(path, "wb") as file:
        np.save(file, np.arange(3))
    refused(path, "not a befrl run file")


def test_pickles_are_refused_and_not_run(path):
    class Trap:
        def __reduce__(self):
            return os.mkdir, (str(path.parent / "sprung"),)

    np.savez(path, meta=np.array([Trap()], dtype=object))
    refused(path, "not a befrl run file")
    assert not (path.parent / "sprung").exists()


def test_a_file_of_another_kind_or_format_is_refused(path, monkeypatch):
    with pytest.raises(InputError, match="not a befrl instance file of format befrl-1"):
        storage.read_arrays(path, "instance")
    monkeypatch.setattr(storage, "FORMAT", "befrl-2")
    refused(path, "befrl-2")


@pytest.mark.parametrize("text", ["", "{", "\x00", "[" * 100_000, "1" * 5000])
def test_bad_json_is_refused_with_the_path(tmp_path, text):
    path = tmp_path / "claim.json"
    path.write_text(text)
    with pytest.raises(InputError, match=r"claim\.json: cannot be read as JSON"):
        storage.read_json(path)


# Run files.


def whole_run():
    """Four settings, two seeds, three episodes."""
    log = {key: np.zeros((4, 2, 3)) for key in (*run_file.LOGGED, *run_file.TRACED)}
    log |= {key: np.zeros(3) for key in run_file.COST}
    examples = {str: "a", int | float: 0.5, int: 3, list: ["a", "b", "c", "d"], dict: {}}
    return log, {key: examples[kind] for key, kind in run_file.META.items()} | {"seeds": [4, 5]}


def test_a_whole_run_comes_back(tmp_path):
    log, meta = whole_run()
    run_file.save(tmp_path / "run.npz", log, meta)
    loaded, about = run_file.load(tmp_path / "run.npz")
    assert set(loaded) == set(log)
    assert about["seeds"] == [4, 5]


@pytest.mark.parametrize("key", [*run_file.LOGGED, *run_file.TRACED, *run_file.COST])
def test_a_run_without_one_of_its_arrays_or_with_one_of_another_shape_is_refused(tmp_path, key):
    log, meta = whole_run()
    for damaged in ({}, {key: log[key][..., :-1]}, {key: log[key][None]}):
        run_file.save(tmp_path / "run.npz", {other: log[other] for other in log if other != key} | damaged, meta)
        with pytest.raises(InputError, match=r"run\.npz: not a complete befrl run file"):
            run_file.load(tmp_path / "run.npz")


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_run_with_a_regret_that_is_no_number_is_refused(tmp_path, value):
    log, meta = whole_run()
    log["regret"][1, 0, 2] = value
    run_file.save(tmp_path / "run.npz", log, meta)
    with pytest.raises(InputError, match=r"run\.npz: damaged, a regret is not a finite number"):
        run_file.load(tmp_path / "run.npz")


CHANGES = [{"seeds": [4]}, {"episodes": 4}, {"episodes": 0}, {"seeds": []}, {"labels": ["a"]}, {"settings": []}]
CHANGES += [{"seconds": "long"}, {"seconds": True}, {"instance_parameters": None}]


@pytest.mark.parametrize("change", CHANGES)
def test_a_run_that_is_not_what_it_says_is_refused(tmp_path, change):
    log, meta = whole_run()
    run_file.save(tmp_path / "run.npz", log, meta | change)
    with pytest.raises(InputError, match=r"run\.npz: not a complete befrl run file"):
        run_file.load(tmp_path / "run.npz")


# Tables.


TABLE = "agent,mean,seeds\ngreedy,1.5,3\n7,2.5,3\n"


def test_a_table_comes_back(tmp_path):
    (tmp_path / "t.csv").write_text(TABLE)
    assert tidy.read(tmp_path / "t.csv", ("agent", "mean")).to_dict("list") == {
        "agent": ["greedy", "7"],
        "mean": [1.5, 2.5],
        "seeds": [3, 3],
    }


def test_a_table_that_is_cut_inside_a_row_is_refused(tmp_path):
    """Where a row ends, nothing shows that there were more."""
    whole = {len(TABLE[: end + 1]) for end, letter in enumerate(TABLE) if letter == "\n"}
    for length in set(range(len(TABLE))) - whole:
        (tmp_path / "t.csv").write_text(TABLE[:length])
        with pytest.raises(InputError, match=r"t\.csv: cannot be read as a befrl table"):
            tidy.read(tmp_path / "t.csv")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("2.5", "long", "damaged, 'long' in the column 'mean' is no number"),
        ("7,2.5", "7 2.5", "a row is cut"),
        ("greedy", "gr\xe9edy", "cannot be read as text"),
        ("mean", "main", "the column 'mean' is missing"),
    ],
)
def test_a_damaged_table_is_refused(tmp_path, old, new, words):
    (tmp_path / "t.csv").write_bytes(TABLE.replace(old, new).encode("latin-1"))
    with pytest.raises(InputError, match=r"t\.csv: ") as refusal:
        tidy.read(tmp_path / "t.csv", ("agent", "mean"))
    assert words in str(refusal.value)
