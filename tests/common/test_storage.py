"""Result files: writes are atomic and deterministic, and a damaged file is rejected with a message that names it."""

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


def assert_rejected(path, *words, read=lambda path: storage.read_arrays(path, "run")):
    """Reading the file fails with a message that starts with its path and contains the words."""
    with pytest.raises(InputError) as error:
        read(path)
    text = str(error.value)
    assert text.startswith(f"{path}: ")
    assert [word for word in words if word not in text] == []


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, SystemExit])
def test_a_failed_write_leaves_the_old_file_and_no_other(tmp_path, error):
    path = tmp_path / "table.csv"
    storage.write_text(path, "old")
    for target in (path, tmp_path / "new.csv"):
        with pytest.raises(error), storage.replacing(target) as file:
            file.write(b"half of the n")
            file.flush()
            assert path.read_text() == "old"
            raise error
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["table.csv"]
    storage.write_text(path, "new")
    assert path.read_text() == "new"


def test_numbers_that_json_cannot_represent_are_not_written(tmp_path):
    for value in (float("nan"), float("inf")):
        with pytest.raises(ValueError, match="not JSON compliant"):
            storage.write_json(tmp_path / "claim.json", {"worst_case": value})
        with pytest.raises(ValueError, match="not JSON compliant"):
            storage.write_arrays(tmp_path / "block.npz", "run", ARRAYS, {"seconds": value})
    assert os.listdir(tmp_path) == []


def test_json_round_trip_in_a_new_folder_with_the_permissions_of_the_umask(tmp_path):
    path, before = tmp_path / "new" / "folder" / "claim.json", os.umask(0o027)
    try:
        storage.write_json(path, META)
    finally:
        os.umask(before)
    assert storage.read_json(path) == META
    assert path.stat().st_mode & 0o777 == 0o640


def test_only_regular_files_are_written(tmp_path):
    """A pipe, a device, a folder, and symbolic links to them and to each other are rejected and stay as they are."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for name, target in {"to-pipe": "pipe", "to-null": "/dev/null", "to-folder": "folder", "a": "b", "b": "a"}.items():
        (tmp_path / name).symlink_to(target)
    before = {path.name: path.lstat().st_mode for path in tmp_path.iterdir()}
    for name in [*before, "/dev/null"]:
        for write in (storage.check_target, lambda path: storage.write_text(path, "text")):
            with pytest.raises(InputError, match=f"{name}: cannot be written"):
                write(tmp_path / name)
    assert {path.name: path.lstat().st_mode for path in tmp_path.iterdir()} == before
    assert Path("/dev/null").is_char_device()
    assert_rejected(tmp_path / "pipe", "it is not a regular file")


def test_a_symbolic_link_is_kept_and_its_target_is_written(tmp_path):
    (tmp_path / "there").mkdir()
    for name in ("old", "new"):
        (tmp_path / name).symlink_to(f"there/{name}")
    (tmp_path / "there" / "old").write_text("before")
    for name in ("old", "new"):
        storage.write_text(tmp_path / name, "text")
        assert (tmp_path / name).is_symlink()
        assert (tmp_path / "there" / name).read_text() == "text"
    assert sorted(os.listdir(tmp_path / "there")) == ["new", "old"]


def test_the_longest_name_is_written_and_longer_ones_are_rejected(tmp_path):
    storage.write_text(tmp_path / ("é" * 127 + "a"), "text")
    assert len(os.listdir(tmp_path)) == 1
    for path in ("é" * 128, "a" * 256, "a" * 256 + "/table.csv", "/".join(["a"] * 5000), "a/" * 101 + "b", "a\0b"):
        with pytest.raises(InputError, match="cannot be written"):
            storage.check_target(tmp_path / path)


def test_a_full_disk_leaves_the_old_file(tmp_path):
    """A limit on the size of files fails as a full disk does: in the middle of a write."""
    path = tmp_path / "file"
    path.write_text("old")
    noise = np.random.default_rng(0).random(4000)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, before[1]))
    try:
        with pytest.raises(OSError, match=r"cannot be written \(File too large\): .*file"):
            storage.write_arrays(path, "run", {"regret": noise}, {})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["file"]


def test_arrays_round_trip_bit_by_bit_with_their_metadata(path):
    arrays, meta = storage.read_arrays(path, "run")
    assert set(arrays) == set(ARRAYS)
    for key, array in ARRAYS.items():
        assert (arrays[key].dtype, arrays[key].shape) == (array.dtype, array.shape)
        assert arrays[key].tobytes() == array.tobytes()
    assert meta == {"format": storage.FORMAT, "kind": "run", **META}
    assert storage.read_meta(path, "run") == meta
    assert storage.kind(path) == "run"


def test_the_same_content_gives_the_same_bytes(path):
    other = path.with_name("other.npz")
    storage.write_arrays(other, "run", ARRAYS, META)
    assert other.read_bytes() == path.read_bytes()
    with zipfile.ZipFile(path) as stored:
        assert {entry.date_time for entry in stored.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_a_missing_file_is_named(tmp_path):
    (tmp_path / "file").touch()
    for read in (lambda path: storage.read_arrays(path, "run"), storage.read_json, tidy.read):
        for folder in (tmp_path, tmp_path / "file"):
            with pytest.raises(InputError, match=r"nowhere: there is no such file$"):
                read(folder / "nowhere")


def test_truncated_files_are_rejected(path):
    whole = path.read_bytes()
    for length in range(0, len(whole), 13):
        path.write_bytes(whole[:length])
        assert_rejected(path, "truncated", "delete it and run again")


def test_a_damaged_file_is_rejected_or_read_unchanged(path, rng):
    """Single bytes are set at random; the zip's checksums see those that matter."""
    whole = path.read_bytes()
    rejected = 0
    for _ in range(200):
        damaged = bytearray(whole)
        damaged[rng.integers(len(whole))] = rng.integers(256)
        path.write_bytes(damaged)
        try:
            arrays, _ = storage.read_arrays(path, "run")
        except InputError as error:
            assert str(path) in str(error)
            rejected += 1
        else:
            assert all(arrays[key].tobytes() == ARRAYS[key].tobytes() for key in ARRAYS)
    assert rejected > 50


def test_files_of_another_origin_kind_or_format_are_rejected(path, monkeypatch):
    class Trap:
        def __reduce__(self):
            return os.mkdir, (str(path.parent / "executed"),)

    assert_rejected(
        path, "not a befrl instance file of format befrl-1", read=lambda p: storage.read_meta(p, "instance")
    )
    monkeypatch.setattr(storage, "FORMAT", "befrl-2")
    assert_rejected(path, "befrl-2")
    monkeypatch.undo()
    with np.load(path) as stored:
        np.savez(path.with_name("less.npz"), meta=stored["meta"], regret=stored["regret"])
    assert_rejected(path.with_name("less.npz"), "does not contain the arrays that it lists")
    path.write_text("episode,regret\n1,0.5\n")
    assert_rejected(path, "not a befrl run file")
    with open(path, "wb") as file:
        np.save(file, np.arange(3))
    assert_rejected(path, "not a befrl run file")
    pickled, texts = np.array([Trap()], dtype=object), [np.frombuffer(text, np.uint8) for text in (b"[]", b"{}")]
    for arrays in ({"regret": np.zeros(3)}, *({"meta": meta} for meta in (np.zeros(3), *texts, pickled))):
        np.savez(path, **arrays)
        assert_rejected(path, "not a befrl run file")
        assert storage.kind(path) == ""
    assert not (path.parent / "executed").exists()
    assert_rejected(path.parent, "not a befrl run file")


@pytest.mark.parametrize("text", ["", "{", "\x00", "[" * 100_000, "1" * 5000])
def test_bad_json_is_rejected(tmp_path, text):
    (tmp_path / "claim.json").write_text(text)
    assert_rejected(tmp_path / "claim.json", "cannot be read as JSON", read=storage.read_json)


def whole_run():
    """Four settings, two seeds, three episodes."""
    log = {key: np.zeros((4, 2, 3)) for key in (*run_file.LOGGED, *run_file.TRACED)}
    log |= {key: np.zeros(3) for key in run_file.COST}
    examples = {str: "a", int | float: 0.5, int: 3, list: ["a", "b", "c", "d"], dict: {}}
    return log, {key: examples[kind] for key, kind in run_file.META.items()} | {"seeds": [4, 5]}


def test_a_run_round_trips_and_an_inconsistent_one_is_rejected(tmp_path):
    """One array is missing or of another shape, or the metadata do not fit, or a regret is not finite."""
    path, (log, meta) = tmp_path / "run.npz", whole_run()
    run_file.save(path, log, meta)
    loaded, about = run_file.load(path)
    assert set(loaded) == set(log)
    assert about["seeds"] == [4, 5]
    without = [({other: log[other] for other in log if other != key}, meta) for key in log]
    cut = [(log | {key: log[key][..., :-1]}, meta) for key in log]
    deeper = [(log | {key: log[key][None]}, meta) for key in log]
    changes = [{"seeds": [4]}, {"episodes": 4}, {"episodes": 0}, {"seeds": []}, {"labels": ["a"]}, {"settings": []}]
    changes += [{"seconds": "long"}, {"seconds": True}, {"instance_parameters": None}]
    for bad_log, bad_meta in [*without, *cut, *deeper, *((log, meta | change) for change in changes)]:
        run_file.save(path, bad_log, bad_meta)
        assert_rejected(path, "not a complete befrl run file", read=run_file.load)
    for value in (np.nan, np.inf):
        log["regret"][1, 0, 2] = value
        run_file.save(path, log, meta)
        assert_rejected(path, "damaged, a regret is not a finite number", read=run_file.load)


TABLE = "agent,mean,seeds\ngreedy,1.5,3\n7,2.5,3\n"


def test_a_table_is_read_and_one_cut_inside_a_row_is_rejected(tmp_path):
    """A cut between two rows cannot be seen."""
    path = tmp_path / "t.csv"
    path.write_text(TABLE)
    expected = {"agent": ["greedy", "7"], "mean": [1.5, 2.5], "seeds": [3, 3]}
    assert tidy.read(path, ("agent", "mean")).to_dict("list") == expected
    for length in range(len(TABLE)):
        if not TABLE[:length].endswith("\n"):
            path.write_text(TABLE[:length])
            assert_rejected(path, "cannot be read as a befrl table", read=tidy.read)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("2.5", "long", "damaged, 'long' in the column 'mean' is not a number"),
        ("7,2.5", "7 2.5", "a row is cut"),
        ("greedy", "gr\xe9edy", "cannot be read as text"),
        ("mean", "main", "the column 'mean' is missing"),
    ],
)
def test_a_damaged_table_is_rejected(tmp_path, old, new, words):
    (tmp_path / "t.csv").write_bytes(TABLE.replace(old, new).encode("latin-1"))
    assert_rejected(tmp_path / "t.csv", words, read=lambda path: tidy.read(path, ("agent", "mean")))


def test_too_little_memory_is_not_reported_as_damage(path, monkeypatch):
    """The file may be sound: nobody should be told to delete it."""

    def load(*_, **__):
        raise MemoryError

    monkeypatch.setattr(storage.np, "load", load)
    for read in (storage.kind, lambda path: storage.read_arrays(path, "run")):
        with pytest.raises(MemoryError):
            read(path)
