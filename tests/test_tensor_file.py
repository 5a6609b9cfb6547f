"""Tensor files: what is saved comes back, and what is damaged or foreign is refused in one line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of

from miai.errors import MiaiError
from miai.tensor_file import DTYPES, MAX_HEADER, load_tensors, save_tensors

ARRAYS = {"moves": np.arange(6, dtype=np.int16).reshape(2, 3), "weights": np.array([0.5, -1.0], np.float32)}
META = {"board_size": 9, "names": ["a", "ü"]}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "x.safetensors"
    save_tensors(path, "sample", 1, ARRAYS, META)
    return path


@pytest.mark.parametrize("mapped", [False, True])
def test_what_is_saved_comes_back_read_only(file: Path, mapped: bool):
    arrays, meta = load_tensors(file, "sample", 1, {"moves": "int16", "weights": "float32"}, mapped=mapped)
    assert meta == META
    assert arrays.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert arrays[name].dtype == array.dtype
        np.testing.assert_array_equal(arrays[name], array)
        with pytest.raises(ValueError, match="read-only"):
            arrays[name][0] = 0


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=50)
@given(
    array=st.sampled_from(sorted(DTYPES)).flatmap(
        lambda name: arrays_of.arrays(DTYPES[name], arrays_of.array_shapes(min_dims=0, min_side=0, max_side=4))
    )
)
def test_every_type_and_shape_comes_back_bit_for_bit(tmp_path: Path, array: np.ndarray):
    path = tmp_path / "any.safetensors"
    save_tensors(path, "sample", 1, {"a": array, "b": np.zeros(3, np.uint8)}, {})
    loaded, _ = load_tensors(path, "sample", 1)
    assert loaded["a"].dtype == array.dtype
    assert loaded["a"].shape == array.shape
    assert loaded["a"].tobytes() == array.tobytes()


def test_the_same_content_gives_the_same_bytes(tmp_path: Path):
    for name, order in (("a", sorted(ARRAYS)), ("b", sorted(ARRAYS, reverse=True))):
        save_tensors(tmp_path / name, "sample", 1, {key: ARRAYS[key] for key in order}, META)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_the_library_of_the_format_reads_our_files(file: Path):
    from safetensors.numpy import load_file

    np.testing.assert_array_equal(load_file(file)["moves"], ARRAYS["moves"])


@pytest.mark.parametrize(
    ("kind", "version", "types", "said"),
    [
        ("network", 1, None, "it is of kind 'sample'; a file of kind 'network' is needed"),
        ("sample", 2, None, "its version is 1; this Miai reads sample of version 2"),
        ("sample", 1, {"moves": "int16"}, "it holds moves int16, weights float32; a sample holds moves int16"),
        ("sample", 1, {"moves": "int32", "weights": "float32"}, "a sample holds moves int32, weights float32"),
    ],
)
def test_another_kind_version_or_content_is_refused(file: Path, kind: str, version: int, types: dict | None, said: str):
    with pytest.raises(MiaiError) as raised:
        load_tensors(file, kind, version, types)
    assert said in str(raised.value)
    assert str(file) in str(raised.value)


def test_a_file_of_another_program_is_refused(tmp_path: Path):
    from safetensors.numpy import save_file

    save_file({"a": np.zeros(2, np.float32)}, tmp_path / "x.safetensors")
    with pytest.raises(MiaiError, match="it was not written by Miai"):
        load_tensors(tmp_path / "x.safetensors", "sample", 1)


def test_a_file_that_is_not_there_is_named(tmp_path: Path):
    with pytest.raises(MiaiError, match="no such file"):
        load_tensors(tmp_path / "x.safetensors", "sample", 1)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=200)
@given(data=st.data())
def test_a_damaged_file_is_refused_or_read(file: Path, data: st.DataObject):
    content = bytearray(file.read_bytes())
    if data.draw(st.booleans(), "cut"):
        content = content[: data.draw(st.integers(0, len(content) - 1))]
    for _ in range(data.draw(st.integers(1, 4), "changes")):
        if content:
            content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    damaged = file.with_name("damaged.safetensors")
    damaged.write_bytes(content)
    try:
        arrays, _ = load_tensors(damaged, "sample", 1, {"moves": "int16", "weights": "float32"})
    except MiaiError as error:
        assert "\n" not in str(error)  # noqa: PT017  # the property holds whether or not it is refused
    else:
        assert arrays["moves"].size * 2 + arrays["weights"].size * 4 <= len(content)


@pytest.mark.parametrize("meta", ["[1]", "{", "[" * 100_000, '{"kind": "sample", "version": 1, "meta": 3}'])
def test_metadata_that_is_no_mapping_is_refused(tmp_path: Path, meta: str):
    from safetensors.numpy import save_file

    save_file({"a": np.zeros(2, np.float32)}, tmp_path / "x.safetensors", metadata={"miai": meta})
    with pytest.raises(MiaiError, match="its metadata cannot be read"):
        load_tensors(tmp_path / "x.safetensors", "sample", 1)


@pytest.mark.parametrize(
    ("array", "meta"),
    [(np.array([1j]), {}), (np.array(["x"]), {}), (np.zeros(1), {"x": object()}), (np.zeros(1), {"x": float("nan")})],
)
def test_what_cannot_be_kept_is_refused_and_nothing_is_written(tmp_path: Path, array: np.ndarray, meta: dict):
    with pytest.raises(ValueError, match=r"array 'a'|metadata|JSON"):
        save_tensors(tmp_path / "x.safetensors", "sample", 1, {"a": array}, meta)
    assert list(tmp_path.iterdir()) == []


def test_metadata_is_json_that_people_can_read(file: Path):
    size = int.from_bytes(file.read_bytes()[:8], "little")
    about = json.loads(json.loads(file.read_bytes()[8 : 8 + size])["__metadata__"]["miai"])
    assert about == {"kind": "sample", "version": 1, "meta": META}


def test_a_header_that_claims_gigabytes_is_not_read(tmp_path: Path):
    path = tmp_path / "x.safetensors"
    for length in (MAX_HEADER + 1, 2**40, 2**64 - 1):
        path.write_bytes(length.to_bytes(8, "little") + b"{}" + b" " * 100)
        with pytest.raises(MiaiError, match="it is damaged, or no safetensors file"):
            load_tensors(path, "sample", 1)
    with path.open("wb") as file:  # A file with holes: that long, without filling the disk.
        file.write((2**31).to_bytes(8, "little"))
        file.truncate(2**31 + 8)
    with pytest.raises(MiaiError, match="its header has 2,147,483,648 bytes; at most 4,194,304 are read"):
        load_tensors(path, "sample", 1)


@pytest.mark.parametrize(
    "entry",
    [
        {"dtype": "F32", "shape": [0, 2**62], "data_offsets": [0, 0]},
        {"dtype": "F32", "shape": [2**62, 4], "data_offsets": [0, 0]},
        {"dtype": "F32", "shape": [0] * 70, "data_offsets": [0, 0]},
        {"dtype": "F32", "shape": [1], "data_offsets": [4, 8]},
        {"dtype": "F32", "shape": [1], "data_offsets": [0, 2**63]},
        {"dtype": "F32", "shape": [-1], "data_offsets": [0, 4]},
        {"dtype": "F32", "shape": [1.5], "data_offsets": [0, 4]},
        {"dtype": "PICKLE", "shape": [1], "data_offsets": [0, 4]},
    ],
)
def test_an_absurd_header_is_one_line(tmp_path: Path, entry: dict):
    about = json.dumps({"kind": "sample", "version": 1, "meta": {}})
    header = json.dumps({"__metadata__": {"miai": about}, "a": entry}).encode()
    (tmp_path / "x.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + b"\0" * 4)
    with pytest.raises(MiaiError) as error:
        load_tensors(tmp_path / "x.safetensors", "sample", 1)
    assert "\n" not in str(error.value)


def test_a_file_whose_metadata_are_null_is_refused(tmp_path: Path):
    header = b'{"__metadata__": null, "a": {"dtype": "U8", "shape": [1], "data_offsets": [0, 1]}}'
    (tmp_path / "x.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + b"\0")
    with pytest.raises(MiaiError, match="it was not written by Miai"):
        load_tensors(tmp_path / "x.safetensors", "sample", 1)
