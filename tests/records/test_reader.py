import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
from collections import Counter

import pytest

from miai.errors import MiaiError
from miai.records import RecordReader, files, read_index

GAME = b"(;SZ[9];B[aa];W[bb])"
FILES = {
    "b/2.sgf": GAME,
    "a.SGF": GAME,
    "b/1.sgf": b"(;SZ[9];B[a",
    "b/readme.txt": b"no record",
    "b/3.sgf": b"(;SZ[30])",
}


def make_folder(path):
    for name, content in FILES.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(content)


def tar_bytes(files) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def make_zip(path, files=FILES):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)


def games(reader):
    return [record.source for record in reader]


def damaged(reader):
    return {damage.name: damage.reason for damage in reader.damaged}


def test_a_folder_in_the_order_of_its_names(tmp_path):
    make_folder(tmp_path)
    reader = RecordReader(tmp_path)
    assert games(reader) == ["a.SGF", "b/2.sgf"]
    assert (reader.num_files, reader.num_games) == (4, 2)
    assert list(damaged(reader)) == ["b/1.sgf", "b/3.sgf"]
    assert "2 to 19" in damaged(reader)["b/3.sgf"]
    assert games(reader) == ["a.SGF", "b/2.sgf"], "a second pass counts anew"
    assert len(reader.damaged) == 2


@pytest.mark.parametrize(
    ("suffix", "pack"),
    [("tar", bytes), ("tar.gz", gzip.compress), ("tgz", gzip.compress), ("tar.xz", lzma.compress), ("tar.gz", bytes)],
)
def test_tar_archives(tmp_path, suffix, pack):
    # The last case is misnamed: what counts is what the file is.
    path = tmp_path / f"games.{suffix}"
    path.write_bytes(pack(tar_bytes(FILES)))
    reader = RecordReader(path)
    assert games(reader) == [f"games.{suffix}/b/2.sgf", f"games.{suffix}/a.SGF"]
    assert list(damaged(reader)) == [f"games.{suffix}/b/1.sgf", f"games.{suffix}/b/3.sgf"]


def test_zip_archives(tmp_path):
    make_zip(tmp_path / "games.zip")
    reader = RecordReader(tmp_path / "games.zip")
    assert games(reader) == ["games.zip/b/2.sgf", "games.zip/a.SGF"]
    assert len(reader.damaged) == 2


def test_archives_inside_a_folder_and_places_together(tmp_path):
    (tmp_path / "x").mkdir()
    make_zip(tmp_path / "x" / "m.zip")
    (tmp_path / "x" / "a.sgf").write_bytes(GAME)
    (tmp_path / "x" / "z.sgf").write_bytes(GAME)
    assert games(RecordReader(tmp_path)) == ["x/a.sgf", "x/m.zip/b/2.sgf", "x/m.zip/a.SGF", "x/z.sgf"]
    assert games(RecordReader(tmp_path / "x" / "z.sgf", tmp_path / "x" / "a.sgf")) == ["z.sgf", "a.sgf"]


def test_reading_is_lazy(tmp_path):
    (tmp_path / "a.sgf").write_bytes(GAME)
    (tmp_path / "b.sgf").write_bytes(b"damaged")
    reader = RecordReader(tmp_path)
    assert next(iter(reader)).source == "a.sgf"
    assert reader.num_files == 1


def test_nothing_leaves_the_archive(tmp_path):
    inner = tmp_path / "inner"
    inner.mkdir()
    escaping = {"../outside.sgf": GAME, "/absolute.sgf": GAME}
    make_zip(inner / "1.zip", escaping)
    (inner / "2.tar").write_bytes(tar_bytes(escaping))
    before = sorted(tmp_path.rglob("*"))
    assert len(games(RecordReader(inner))) == 4
    assert sorted(tmp_path.rglob("*")) == before


def test_links_and_other_oddities_in_a_tar_are_passed_over(tmp_path):
    path = tmp_path / "t.tar"
    with tarfile.open(path, "w") as archive:
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.DIRTYPE):
            info = tarfile.TarInfo("odd.sgf")
            info.type = kind
            info.linkname = "/etc/passwd"
            archive.addfile(info)
    reader = RecordReader(path)
    assert games(reader) == []
    assert reader.num_files == 0


def test_a_truncated_archive_keeps_what_came_before(tmp_path):
    many = {f"{number:03}.sgf": GAME for number in range(100)}
    whole = tar_bytes(many)
    member = 2 * tarfile.BLOCKSIZE  # a header and 20 bytes, each in a block of its own
    (tmp_path / "content.tar").write_bytes(whole[: 50 * member + 520])
    (tmp_path / "header.tar").write_bytes(whole[: 50 * member + 20])
    (tmp_path / "between.tar").write_bytes(whole[: 50 * member])
    (tmp_path / "spoilt.tar").write_bytes(whole[: 50 * member] + b"x" * 100 + whole[50 * member + 100 :])
    (tmp_path / "half.tar.xz").write_bytes(lzma.compress(whole)[:-200])
    (tmp_path / "wrong.zip").write_bytes(b"PK not really")
    reader = RecordReader(tmp_path)
    found = Counter(name.split("/")[0] for name in games(reader))
    assert {name: found[name] for name in ("content.tar", "header.tar", "between.tar", "spoilt.tar", "wrong.zip")} == {
        "content.tar": 50,
        "header.tar": 50,
        "between.tar": 50,
        "spoilt.tar": 50,
        "wrong.zip": 0,
    }
    assert set(damaged(reader)) == {path.name for path in tmp_path.iterdir()}


def test_sizes_are_bounded(tmp_path):
    bomb = {"bomb.sgf": b"(;C[" + b"x" * 3_000_000 + b"])", "good.sgf": GAME}
    make_zip(tmp_path / "1.zip", bomb)
    (tmp_path / "2.tar.gz").write_bytes(gzip.compress(tar_bytes(bomb)))
    for name, content in bomb.items():
        (tmp_path / name).write_bytes(content)
    reader = RecordReader(tmp_path, max_bytes=1_000_000)
    assert games(reader) == ["1.zip/good.sgf", "2.tar.gz/good.sgf", "good.sgf"]
    assert set(damaged(reader)) == {"1.zip/bomb.sgf", "2.tar.gz/bomb.sgf", "bomb.sgf"}
    assert all("TooLarge" in reason for reason in damaged(reader).values())


def test_a_tar_header_that_claims_to_be_huge(tmp_path):
    info = tarfile.TarInfo("pax")
    info.type = tarfile.XHDTYPE
    info.size = 10**10
    (tmp_path / "t.tar").write_bytes(info.tobuf() + b"\0" * 10_240)
    reader = RecordReader(tmp_path)
    assert games(reader) == []
    assert "header" in damaged(reader)["t.tar"]


def test_names_that_are_not_text(tmp_path):
    (tmp_path / "t.tar").write_bytes(tar_bytes({"\udcff.sgf": b"damaged"}))
    reader = RecordReader(tmp_path)
    assert games(reader) == []
    assert reader.summary().encode("utf-8")


def test_the_summary_names_some(tmp_path):
    for number in range(7):
        (tmp_path / f"{number}.sgf").write_bytes(b"damaged")
    reader = RecordReader(tmp_path)
    assert games(reader) == []
    lines = reader.summary().splitlines()
    assert lines[0] == "0 games from 7 files, 7 damaged"
    assert lines[1].startswith("  0.sgf: not SGF")
    assert lines[-1] == "  and 2 more"


def test_a_place_that_is_not_there(tmp_path):
    with pytest.raises(MiaiError, match="no such file or folder"):
        games(RecordReader(tmp_path / "nowhere"))
    with pytest.raises(ValueError, match="at least one"):
        RecordReader()
    with pytest.raises(ValueError, match="max_bytes"):
        RecordReader(tmp_path, max_bytes=0)


def test_the_index_of_a_collection(tmp_path):
    index = b"path\tset\tsplit\none/1.sgf\tone\ttrain\none/2.sgf\tone\ttest\n"
    (tmp_path / "go9.tar.xz").write_bytes(
        lzma.compress(tar_bytes({"go9/index.tsv": index, "go9/one/1.sgf": GAME, "go9/one/2.sgf": GAME}))
    )
    rows = read_index(tmp_path)
    splits = [rows[record.source]["split"] for record in RecordReader(tmp_path)]
    assert splits == ["train", "test"]
    assert read_index(tmp_path / "go9.tar.xz") == rows


def test_a_collection_without_an_index_and_with_a_wrong_one(tmp_path):
    (tmp_path / "a.sgf").write_bytes(GAME)
    assert read_index(tmp_path) == {}
    assert read_index(tmp_path / "a.sgf") == {}
    (tmp_path / "index.tsv").write_text("name\tsplit\n")
    with pytest.raises(MiaiError, match="`path`"):
        read_index(tmp_path)


# ---- attacks ----


@pytest.mark.parametrize(("suffix", "pack"), [("gz", gzip.compress), ("xz", lzma.compress), ("bz2", bz2.compress)])
def test_a_tar_bomb_goes_off_small(tmp_path, monkeypatch, suffix, pack):
    """Many files of zeros, each of them within the bounds; and one that nobody wants, which is passed over."""
    monkeypatch.setattr(files, "ALWAYS_UNFOLDED", 300_000)
    zeros = bytes(100_000)
    members = {f"{number}.sgf": zeros for number in range(10)}
    for name, contents in (("many", members), ("passed-over", {"big.txt": bytes(2_000_000), "a.sgf": GAME})):
        (tmp_path / f"{name}.tar.{suffix}").write_bytes(pack(tar_bytes(contents)))
    reader = RecordReader(tmp_path)
    assert games(reader) == []
    assert reader.num_files < 10
    reasons = damaged(reader)
    for name in ("many", "passed-over"):
        assert "TooLargeError: it unfolds to more than " in reasons[f"{name}.tar.{suffix}"]


def test_a_zip_bomb_goes_off_small(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "ALWAYS_UNFOLDED", 300_000)
    monkeypatch.setattr(files, "UNFOLDS", 10)
    make_zip(tmp_path / "bomb.zip", {f"{number}.sgf": bytes(100_000) for number in range(100)})
    reader = RecordReader(tmp_path)
    assert games(reader) == []
    assert 2 <= reader.num_files <= 20
    assert "TooLargeError: it unfolds to more than " in damaged(reader)["bomb.zip"]


def test_a_zip_whose_members_lie_over_each_other(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "ALWAYS_UNFOLDED", 300_000)
    monkeypatch.setattr(files, "UNFOLDS", 1)
    path = tmp_path / "over.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.sgf", b" " * 50_000)
        for number in range(1_000):
            twin = zipfile.ZipInfo(f"{number}.sgf")
            first = archive.filelist[0]
            twin.file_size, twin.compress_size, twin.CRC = first.file_size, first.compress_size, first.CRC
            twin.header_offset = first.header_offset
            archive.filelist.append(twin)
        archive._didModify = True
    reader = RecordReader(path)
    assert games(reader) == []
    assert "TooLargeError" in damaged(reader)["over.zip"]
    assert reader.num_files < 20


def test_too_many_files(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MOST_MEMBERS", 3)
    many = {f"{number}.sgf": GAME for number in range(4)}
    make_zip(tmp_path / "a.zip", many)
    (tmp_path / "b.tar").write_bytes(tar_bytes(many))
    reader = RecordReader(tmp_path)
    assert len(games(reader)) == 3, "a zip says at once how many it has; a tar does not"
    assert {name: "more than 3 files" in reason for name, reason in damaged(reader).items()} == {
        "a.zip": True,
        "b.tar": True,
    }


def test_an_archive_in_an_archive_is_not_opened(tmp_path):
    make_zip(tmp_path / "inner.zip", {"a.sgf": GAME})
    inner = (tmp_path / "inner.zip").read_bytes()
    (tmp_path / "inner.zip").unlink()
    make_zip(tmp_path / "outer.zip", {"inner.zip": inner, "b.sgf": GAME})
    assert games(RecordReader(tmp_path)) == ["outer.zip/b.sgf"]


def with_size(header: bytes, size: bytes) -> bytes:
    """Put a size into a tar header, and set its checksum right."""
    changed = header[:124] + size + header[136:148] + b" " * 8 + header[156:]
    return changed[:148] + b"%06o\0 " % sum(changed) + changed[156:]


@pytest.mark.parametrize("back", [512, 1024, 5_120])
def test_a_tar_header_of_a_negative_size_does_not_lead_back(tmp_path, back):
    """The next header would be at, or before, the one that was just read, for ever."""
    whole = tar_bytes({"a.sgf": GAME, "b.sgf": GAME, "c.sgf": GAME})
    negative = b"\xff" + (-back).to_bytes(11, "big", signed=True)
    second = 2 * tarfile.BLOCKSIZE
    header = with_size(whole[second : second + tarfile.BLOCKSIZE], negative)
    (tmp_path / "t.tar").write_bytes(whole[:second] + header + whole[second + tarfile.BLOCKSIZE :])
    reader = RecordReader(tmp_path)
    assert games(reader) == ["t.tar/a.sgf"]
    assert "t.tar" in damaged(reader)


def test_a_sparse_header_that_is_cut_off(tmp_path):
    info = tarfile.TarInfo("a.sgf")
    info.type = tarfile.GNUTYPE_SPARSE
    header = bytearray(info.tobuf(tarfile.GNU_FORMAT))
    header[482] = 1  # there is more of it in the next block, which is missing
    (tmp_path / "t.tar").write_bytes(
        tar_bytes({"b.sgf": GAME})[:1024] + with_size(bytes(header), bytes(header[124:136]))
    )
    reader = RecordReader(tmp_path)
    assert games(reader) == ["t.tar/b.sgf"]
    assert "t.tar" in damaged(reader)


def test_a_name_that_commands_the_terminal(tmp_path):
    (tmp_path / "t.tar").write_bytes(tar_bytes({"\x1b[2J\x9b31m.sgf": b"damaged"}))
    reader = RecordReader(tmp_path)
    assert games(reader) == []
    assert "t.tar/�[2J�31m.sgf" in reader.summary()
