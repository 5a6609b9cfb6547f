"""The file of a table: what plain NumPy sees in it, equal bytes for equal tables, and every kind of damage refused."""

from __future__ import annotations

import io
import json
import os
import pickle
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from games.plain_mnk import as_array
from miai.errors import MiaiError
from miai.games.small import game_graph
from miai.tabular.table import AFTERSTATE_ACTION, ValueTable
from miai.tabular.training import Trainer

from .configuration import config, tictactoe, trained

SMALL = {"num_games": 300, "num_checkpoints": 1}


@pytest.fixture(scope="module")
def learning() -> Trainer:
    return trained(**SMALL)


@pytest.fixture(scope="module")
def saved(learning: Trainer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("table") / "table.npz"
    learning.table("some fingerprint").save(path, learning.graph)
    return path


def arrays_of(path: Path) -> dict[str, np.ndarray]:
    with np.load(path, allow_pickle=False) as archive:
        return {name: archive[name] for name in archive.files}


def test_plain_numpy_opens_it(learning, saved):
    arrays = arrays_of(saved)
    assert {name: (array.dtype.str, array.ndim) for name, array in arrays.items() if name != "meta"} == {
        "boards": ("|i1", 2),
        "actions": ("<i2", 1),
        "values": ("<f8", 1),
        "visits": ("<i8", 1),
    }
    meta = json.loads(str(arrays["meta"]))
    assert meta["game"] == {"name": "tictactoe"}
    assert meta["algorithm"] == {"name": "sarsa", "entry": "state_action", "target": "chosen", "n_step": 1}
    assert meta["opponent"] == {"name": "random"}
    assert (meta["seat"], meta["seed"], meta["gamma"], meta["initial_value"]) == ("first", 0, 0.9, 0.0)
    assert (meta["tie_breaking"], meta["fingerprint"]) == ("first", "some fingerprint")


def test_only_updated_entries_are_in_it(learning, saved):
    arrays = arrays_of(saved)
    assert len(arrays["values"]) == np.count_nonzero(learning.visits) < learning.bound
    assert (arrays["visits"] > 0).all()
    # Each row is an empty cell of a board with X to move.
    assert (arrays["boards"].sum(axis=1) == 0).all()
    rows = np.arange(len(arrays["actions"]))
    assert (arrays["boards"][rows, arrays["actions"]] == 0).all()
    graph = learning.graph
    for row in range(0, len(rows), 37):
        edge = graph.find_edge(graph.find(arrays["boards"][row]), int(arrays["actions"][row]))
        assert arrays["values"][row] == learning.values[edge]
        assert arrays["visits"][row] == learning.visits[edge]


@pytest.mark.parametrize("algorithm", ["sarsa", "afterstate", "double_q"])
@pytest.mark.parametrize("seat", ["first", "second", "both"])
def test_what_is_saved_is_loaded(algorithm, seat, tmp_path):
    learning = trained(algorithm=algorithm, seat=seat, initial_value=0.25, **SMALL)
    table, path = learning.table(), tmp_path / "table.npz"
    table.save(path, learning.graph)
    for loaded in (ValueTable.load(path), ValueTable.load(path, learning.graph)):
        assert loaded.meta == table.meta
        assert np.array_equal(loaded.values[table.visits > 0], table.values[table.visits > 0])
        assert (loaded.values[table.visits == 0] == 0.25).all()
        assert np.array_equal(loaded.visits, table.visits)
        assert loaded.size == table.size <= learning.bound
    assert list(tmp_path.iterdir()) == [path]


def test_afterstates_have_no_action(tmp_path):
    learning = trained(algorithm="afterstate", seat="second", **SMALL)
    learning.table().save(tmp_path / "table.npz", learning.graph)
    arrays = arrays_of(tmp_path / "table.npz")
    assert (arrays["actions"] == AFTERSTATE_ACTION).all()
    assert (arrays["boards"].sum(axis=1) == 0).all()  # O has just moved


def test_an_empty_table(tmp_path):
    learning = trained(**SMALL)
    learning.visits[:] = 0
    learning.table().save(tmp_path / "table.npz", learning.graph)
    assert ValueTable.load(tmp_path / "table.npz").size == 0


def test_the_same_run_gives_the_same_bytes_in_any_process(tmp_path):
    program = (
        "import json, sys; from pathlib import Path\n"
        "from miai.tabular.settings import TrainSettings; from miai.tabular.training import Trainer\n"
        "trainer = Trainer(TrainSettings.of(json.loads(sys.argv[1])))\n"
        "rows = list(trainer.run())\n"
        "trainer.table('f').save(Path(sys.argv[2]), trainer.graph)\n"
    )
    settings_ = config(algorithm="sarsa", tie_breaking="random", seed=3, **SMALL)
    here = trained(algorithm="sarsa", tie_breaking="random", seed=3, **SMALL)
    here.table("f").save(tmp_path / "here.npz", here.graph)
    for name, hash_seed in (("one", "1"), ("two", "2")):
        place = tmp_path / name
        place.mkdir()
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "TZ": "Asia/Tokyo" if name == "two" else "UTC"}
        command = [sys.executable, "-c", program, json.dumps(settings_), str(place / "table.npz")]
        subprocess.run(command, check=True, cwd=place, env=environment)
    assert (tmp_path / "one" / "table.npz").read_bytes() == (tmp_path / "here.npz").read_bytes()
    assert (tmp_path / "two" / "table.npz").read_bytes() == (tmp_path / "here.npz").read_bytes()


def test_another_seed_gives_another_table(learning):
    assert not np.array_equal(trained(seed=1, **SMALL).values, learning.values)


def test_an_opponents_table_is_named_by_its_content(saved, tmp_path):
    # Wherever the same table lies, and whatever number its run has, the new table is the same.
    copy = tmp_path / "elsewhere.npz"
    copy.write_bytes(saved.read_bytes())
    metas = []
    for path in (saved, copy):
        opponent = {"name": "table", "run": str(path)}
        learnt = trained({"opponent.table": path}, seat="second", opponent=opponent, **SMALL)
        metas.append(learnt.table().meta)
    assert metas[0] == metas[1]
    assert metas[0].opponent["run"].startswith("sha256 ")


# Damage --------------------------------------------------------------------------------------------------


def refused(path: Path, message: str) -> None:
    with pytest.raises(MiaiError, match=message) as caught:
        ValueTable.load(path, tictactoe())
    assert str(caught.value).startswith(f"{path}: not a table that can be used: ")
    assert "\n" not in str(caught.value)


def loaded_or_refused(path: Path) -> ValueTable | None:
    """The table, or `None` if it was refused in one line. Any other exception is a failure of the test."""
    try:
        return ValueTable.load(path, tictactoe())
    except MiaiError as error:
        if "\n" in str(error):
            raise AssertionError(f"several lines: {error}") from error
        return None


def write(path: Path, arrays: dict[str, np.ndarray], **changed_meta) -> Path:
    meta = json.loads(str(arrays["meta"])) | changed_meta
    np.savez(path, **{**arrays, "meta": np.array(json.dumps(meta))})
    return path


def test_missing_and_foreign_files(tmp_path):
    refused(tmp_path / "nothing.npz", "there is no such file")
    refused(tmp_path, "there is no such file")
    for name, content in (("empty", b""), ("text", b"a table"), ("pickle", pickle.dumps({"a": 1}))):
        (tmp_path / name).write_bytes(content)
        refused(tmp_path / name, "cannot be read as a NumPy archive")
    np.savez(tmp_path / "other.npz", values=np.zeros(3))
    refused(tmp_path / "other.npz", "it holds values; expected actions, boards, meta, values, visits")


class _Trap:
    """Would create a file if it were unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


def test_nothing_in_a_file_is_run(saved, tmp_path):
    arrays = arrays_of(saved)
    for name in ("boards", "meta"):
        trap = np.array([_Trap(tmp_path / "trapped")], dtype=object)
        np.savez(tmp_path / "trap.npz", allow_pickle=True, **{**arrays, name: trap})
        refused(tmp_path / "trap.npz", "cannot be read as a NumPy archive")
    assert not (tmp_path / "trapped").exists()


def test_truncated_files(saved, tmp_path):
    whole = saved.read_bytes()
    for length in range(0, len(whole), 997):
        (tmp_path / "part.npz").write_bytes(whole[:length])
        refused(tmp_path / "part.npz", "cannot be read as a NumPy archive|it holds ")


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("values", lambda a: a.astype(np.float32), "values is float32, expected float64"),
        ("values", lambda a: a[:-1], r"values is \(\d+,\), expected \(\d+,\) as boards"),
        ("values", lambda a: np.where(np.arange(len(a)) == 3, np.nan, a), "a value is not finite"),
        ("values", lambda a: np.where(np.arange(len(a)) == 3, np.inf, a), "a value is not finite"),
        ("visits", lambda a: a * 0, "an entry without visits"),
        ("visits", lambda a: -a, "an entry without visits"),
        ("visits", lambda a: a[:, None], "visits is "),
        ("actions", lambda a: a + np.int16(9), "row 0 is an illegal move"),
        ("actions", lambda a: a * 0 - np.int16(1), "row 0 is an illegal move: -1"),
        ("actions", lambda a: a * 0, r"illegal move: 0 in \["),
        ("boards", lambda a: a[:, :8], r"boards is \(\d+, 8\), expected \[n, 9\] for tictactoe"),
        ("boards", lambda a: a.ravel(), "boards is "),
        ("boards", lambda a: a * 0 + np.int8(1), "row 0 is a board that cannot be reached in tictactoe"),
        ("boards", lambda a: a * np.int8(2), "is a board that cannot be reached"),
        ("meta", lambda a: np.array("{"), "meta is not JSON"),
        ("meta", lambda a: np.array("[" * 100_000), "meta is not JSON"),
        ("meta", lambda a: np.array(3.5), "does not hold the fields"),
        ("meta", lambda a: np.array([1, 2]), "does not hold the fields|not JSON"),
        ("meta", lambda a: np.array("{}"), "does not hold the fields of a table"),
    ],
)
def test_damaged_arrays(saved, tmp_path, name, change, message):
    arrays = arrays_of(saved)
    np.savez(tmp_path / "table.npz", **{**arrays, name: change(arrays[name])})
    refused(tmp_path / "table.npz", message)


def test_an_entry_stands_in_it_once(saved, tmp_path):
    arrays = arrays_of(saved)
    doubled = {name: array if name == "meta" else np.concatenate([array, array[:1]]) for name, array in arrays.items()}
    np.savez(tmp_path / "table.npz", **doubled)
    refused(tmp_path / "table.npz", "an entry stands in it twice")


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"format": 2}, "its format is 2; this version reads 1"),
        ({"seat": "second"}, "an entry belongs to another seat than second"),
        ({"seat": "third"}, "meta.seat is 'third'"),
        ({"seat": 1}, "meta.seat is 1, expected str"),
        ({"seed": "7"}, "meta.seed is '7', expected int"),
        ({"gamma": None}, "meta.gamma is None, expected a finite float"),
        ({"gamma": 10**400}, "meta.gamma is 1000.*expected a finite float"),
        ({"initial_value": float("nan")}, "meta.initial_value is nan"),
        ({"tie_breaking": "last"}, "meta.tie_breaking is 'last'"),
        ({"game": "tictactoe"}, "meta.game is 'tictactoe', expected dict"),
        ({"game": {}}, "game.name: a value is needed"),
        ({"game": {"name": "chess"}}, "no such choice 'chess'"),
        (
            {"game": {"name": "mnk", "rows": 3, "cols": 3, "k": 2}},
            r"belongs to mnk \(cols 3, k 2, rows 3\), not to tictactoe",
        ),
        ({"game": {"name": "mnk", "rows": [3], "cols": 3, "k": 2}}, r"game.rows: .*not \[3\]"),
        ({"algorithm": {}}, "meta.algorithm.name is None"),
        ({"algorithm": {"name": "x"}}, "meta.algorithm.entry is None"),
        ({"algorithm": {"name": "x", "entry": ["state_action"]}}, "meta.algorithm.entry is "),
        ({"algorithm": {"name": "x", "entry": "afterstate"}}, "a row is not an after-state"),
        ({"more": 1}, "does not hold the fields"),
    ],
)
def test_wrong_metadata(saved, tmp_path, changed, message):
    refused(write(tmp_path / "table.npz", arrays_of(saved), **changed), message)


def test_tictactoe_under_its_other_name_is_the_same_game(saved, tmp_path):
    path = write(tmp_path / "table.npz", arrays_of(saved), game={"name": "mnk", "rows": 3, "cols": 3, "k": 3})
    assert ValueTable.load(path, tictactoe()).size == ValueTable.load(saved).size


def test_a_table_of_another_board_is_refused(tmp_path):
    mnk = {"name": "mnk", "rows": 2, "cols": 3, "k": 2}
    other = trained(game=mnk, **SMALL)
    other.table().save(tmp_path / "table.npz", other.graph)
    assert ValueTable.load(tmp_path / "table.npz", game_graph(mnk)).size == other.table().size
    refused(tmp_path / "table.npz", "it belongs to mnk .*, not to tictactoe")


def test_an_unreached_afterstate_is_refused(tmp_path):
    learning = trained(algorithm="afterstate", **SMALL)
    learning.table().save(tmp_path / "table.npz", learning.graph)
    arrays = arrays_of(tmp_path / "table.npz")
    arrays["boards"][0] = as_array("." * 9)
    np.savez(tmp_path / "table.npz", **arrays)
    refused(tmp_path / "table.npz", "a row is not an after-state")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@settings(max_examples=200)
@given(st.data())
def test_random_damage_is_refused_or_harmless(saved, tmp_path_factory, data):
    content = bytearray(saved.read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.getbasetemp() / "damaged.npz"
    path.write_bytes(content)
    loaded = loaded_or_refused(path)
    if loaded is not None:  # the damage lies where the archive keeps nothing that matters, such as a date
        table = ValueTable.load(saved, tictactoe())
        assert np.array_equal(loaded.values, table.values)
        assert loaded.meta == table.meta


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of Python, about what damaged headers of NumPy hold
@settings(max_examples=200)
@given(st.sampled_from(["boards", "actions", "values", "visits", "meta"]), st.data())
def test_random_damage_under_a_right_checksum_is_refused_or_a_table(saved, tmp_path_factory, name, data):
    # The archive's checksum would hide most damage from the checks behind it, so it is made right again.
    with zipfile.ZipFile(saved) as archive:
        members = {member: bytearray(archive.read(member)) for member in archive.namelist()}
    content = members[f"{name}.npy"]
    for _ in range(data.draw(st.integers(1, 3))):
        # Headers and their neighbourhood more often than not.
        place = data.draw(st.integers(0, 200) | st.integers(0, len(content) - 1))
        content[min(place, len(content) - 1)] = data.draw(st.integers(0, 255))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for member, member_content in members.items():
            archive.writestr(member, bytes(member_content))
    path = tmp_path_factory.getbasetemp() / "damaged.npz"
    path.write_bytes(buffer.getvalue())
    loaded = loaded_or_refused(path)
    if loaded is not None:
        assert np.isfinite(loaded.values).all()
        assert (loaded.visits >= 0).all()
