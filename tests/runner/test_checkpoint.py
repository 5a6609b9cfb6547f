"""What is left for a run that goes on later."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from miai.runner.checkpoint import Checkpoints


def test_arrays_and_rows_come_back_as_they_were(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path / "f")
    assert checkpoints.load() is None
    assert not (tmp_path / "f").exists()
    arrays = {"weights": np.linspace(0, 1, 7), "step": np.array(3), "name": np.array("sarsa")}
    rows = [(1_700_000_000_000, 1, {"eval/win": 0.1 + 0.2}), (1_700_000_000_001, 2, {"eval/win": 1e-300})]
    checkpoints.save(arrays, rows)
    loaded = checkpoints.load()
    assert loaded is not None
    assert set(loaded[0]) == set(arrays)
    for name, array in arrays.items():
        np.testing.assert_array_equal(loaded[0][name], array)
    assert loaded[1] == rows
    checkpoints.remove()
    assert list(tmp_path.iterdir()) == []


def test_objects_and_the_reserved_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="'bad'"):
        Checkpoints(tmp_path).save({"bad": np.array([{}])}, [])
    with pytest.raises(ValueError, match="'__rows__'"):
        Checkpoints(tmp_path).save({"__rows__": np.zeros(1)}, [])


def test_a_half_written_or_damaged_checkpoint_is_none(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path)
    checkpoints.save({"a": np.arange(1000)}, [])
    path = tmp_path / "checkpoint.npz"
    half = tmp_path / ".checkpoint.npz.1.part"
    half.write_bytes(path.read_bytes()[:100])
    assert checkpoints.load() is not None
    assert not half.exists()
    path.write_bytes(path.read_bytes()[:2000])
    assert checkpoints.load() is None


@pytest.mark.parametrize("rows", [[[1, 2]], [[1, 2, {"eval/win": "much"}]], [[1, 2, {"eval/win": float("nan")}]], 5])
def test_a_checkpoint_with_rows_that_are_none_is_none(tmp_path: Path, rows: object) -> None:
    checkpoints = Checkpoints(tmp_path)
    checkpoints.save({"a": np.arange(3)}, rows)  # type: ignore[arg-type]
    assert checkpoints.load() is None


def test_a_damaged_unit_is_not_done(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path)
    checkpoints.save_unit("game/1", {"won": True, "moves": [1, 2]})
    (path,) = (tmp_path / "units").iterdir()
    whole = path.read_text()
    for damaged in (
        whole[:-9],
        whole.replace("[1, 2]", "[1, 3]"),
        "5",
        "[]",
        '{"key": "game/1", "result": 3}',
        "[" * 9999,
    ):
        path.write_text(damaged)
        assert checkpoints.load_unit("game/1") is None
    path.write_text(whole)
    assert checkpoints.load_unit("game/1") == {"won": True, "moves": [1, 2]}


def test_units_are_kept_by_key(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path)
    assert checkpoints.save_unit("game/1", {"won": True, "value": 0.1, "moves": (1, 2)})["moves"] == [1, 2]
    checkpoints.save_unit("game/2 — é", {"won": False})
    assert checkpoints.load_unit("game/1") == {"won": True, "value": 0.1, "moves": [1, 2]}
    assert checkpoints.load_unit("game/2 — é") == {"won": False}
    assert checkpoints.load_unit("game/3") is None
    with pytest.raises(ValueError, match="the result of unit game/4 is not plain"):
        checkpoints.save_unit("game/4", {"value": np.int64(1)})
