"""NumPy's archives: what is an array of plain values is read, whatever else is in them is refused and never run."""

from __future__ import annotations

import io
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest

from miai import npz
from miai.npz import BadArchiveError, load_npz


class Trap:
    """Would create a file if it were unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


def npy(array: np.ndarray) -> bytes:
    content = io.BytesIO()
    np.lib.format.write_array(content, array)
    return content.getvalue()


def pack(path: Path, members: list[tuple[str, bytes]], compression: int = zipfile.ZIP_STORED) -> Path:
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return path


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_arrays_come_back(tmp_path, save):
    arrays = {"a": np.arange(6).reshape(2, 3), "b": np.array("text"), "c": np.zeros((0, 2), np.int8)}
    save(tmp_path / "x.npz", **arrays)
    loaded = load_npz(tmp_path / "x.npz")
    assert list(loaded) == list(arrays)
    for name, array in arrays.items():
        assert loaded[name].dtype == array.dtype
        np.testing.assert_array_equal(loaded[name], array)


def test_a_pickle_is_refused_and_not_run(tmp_path):
    mark = tmp_path / "mark"
    trap = np.array([Trap(mark)], dtype=object)
    np.savez(tmp_path / "objects.npz", allow_pickle=True, values=np.zeros(2), trap=trap)
    np.save(tmp_path / "objects.npy", trap, allow_pickle=True)
    (tmp_path / "plain.pkl").write_bytes(pickle.dumps(Trap(mark)))
    pack(tmp_path / "member.npz", [("values.npy", pickle.dumps(Trap(mark)))])
    for path in tmp_path.glob("*.*"):
        with pytest.raises(BadArchiveError, match=r"^it cannot be read as a NumPy archive \(\w+\)$"):
            load_npz(path)
    assert not mark.exists()


def test_a_bomb_does_not_unfold(tmp_path):
    """64 MiB and a byte of zeros have some 64 kB when they are compressed."""
    zeros = npy(np.zeros(npz.MOST_UNFOLDED, np.uint8))
    path = pack(tmp_path / "bomb.npz", [("a.npy", zeros)], zipfile.ZIP_DEFLATED)
    assert path.stat().st_size < 200_000
    with pytest.raises(BadArchiveError, match=r"it unfolds from [\d,]+ to 67,108,992 bytes; 67,108,864 are allowed"):
        load_npz(path)


def test_a_member_that_claims_less_than_it_unfolds_to_yields_no_more_than_it_claims(tmp_path):
    path = pack(tmp_path / "liar.npz", [("a.npy", npy(np.zeros(100_000, np.uint8)))], zipfile.ZIP_DEFLATED)
    content = path.read_bytes()
    true = (100_000 + 128).to_bytes(4, "little")
    assert content.count(true) == 2
    path.write_bytes(content.replace(true, (1_000).to_bytes(4, "little")))
    with pytest.raises(BadArchiveError, match="cannot be read"):
        load_npz(path)


def test_members_that_lie_over_each_other_count_each_time(tmp_path, monkeypatch):
    """A small file of many members that all point at the same bytes."""
    monkeypatch.setattr(npz, "MOST_UNFOLDED", 100_000)
    content = npy(np.zeros(60_000, np.uint8))
    path = tmp_path / "over.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.npy", content)
        for number in range(3):
            twin = zipfile.ZipInfo.from_file(path, f"{number}.npy")
            twin.header_offset, twin.file_size, twin.compress_size = 0, len(content), len(content)
            twin.CRC = archive.filelist[0].CRC
            archive.filelist.append(twin)
    with pytest.raises(BadArchiveError, match=r"it unfolds from [\d,]+ to 240,512 bytes"):
        load_npz(path)


def test_one_name_twice_and_too_many(tmp_path, monkeypatch):
    one = npy(np.zeros(1))
    with pytest.warns(UserWarning, match="Duplicate name"):
        pack(tmp_path / "twice.npz", [("a.npy", one), ("a.npy", one)])
    with pytest.raises(BadArchiveError, match="an array twice"):
        load_npz(tmp_path / "twice.npz")
    monkeypatch.setattr(npz, "MOST_MEMBERS", 2)
    pack(tmp_path / "many.npz", [(f"{number}.npy", one) for number in range(3)])
    with pytest.raises(BadArchiveError, match="it holds 3 arrays; 2 are allowed"):
        load_npz(tmp_path / "many.npz")


@pytest.mark.parametrize(
    "header",
    [
        "{'descr': '|u1', 'fortran_order': False, 'shape': (10000000000000000,), }",
        "{'descr': '|u1', 'fortran_order': False, 'shape': (-1,), }",
        "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }",
        "__import__('os').mkdir('mark')",
        "(" * 5_000,
    ],
)
def test_a_header_that_lies(tmp_path, monkeypatch, header):
    monkeypatch.chdir(tmp_path)
    text = header.encode() + b"\n"
    content = b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + b"\0" * 64
    path = pack(tmp_path / "x.npz", [("a.npy", content)])
    with pytest.raises(BadArchiveError, match="cannot be read"):
        load_npz(path)
    assert not (tmp_path / "mark").exists()


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(BadArchiveError, match="FileNotFoundError"):
        load_npz(tmp_path / "nothing.npz")


def test_characters_that_there_are_not_are_refused(tmp_path):
    array = np.array("abc")
    codes = np.frombuffer(array.tobytes(), np.uint32).copy()
    codes[1] = 0x110000
    np.savez(tmp_path / "x.npz", meta=codes.view(array.dtype))
    with pytest.raises(BadArchiveError, match=r"meta\.npy holds characters that there are not"):
        load_npz(tmp_path / "x.npz")
