"""Damage to files and texts: what bad disks, bad transfers and bad hands do. A generator decides, so that the same
seed gives the same damage again.

`MUTATIONS` damage any bytes, `TEXT` any text; the others know a format, mend its checksum or its lengths, and so reach
what lies behind them.
"""

from __future__ import annotations

import io
import json
import pickle
import struct
import zipfile
from collections.abc import Callable
from random import Random
from typing import Any

Mutation = Callable[[bytes, Random], bytes]

CANARY = "canary"
"""A file that appears in the current folder if a planted command is run."""

COMMAND = f"touch {CANARY}"


class _Attack:
    """An object whose pickle runs a command when it is loaded."""

    def __reduce__(self) -> tuple:
        import os

        return os.system, (COMMAND,)


PICKLE = pickle.dumps(_Attack())

NASTY = (
    *(
        "",
        " ",
        "\0",
        "\n",
        "\r\n",
        "\t",
        "\\",
        "'",
        '"',
        "#",
        "%",
        "&a",
        "*a",
        "!!",
        "<<: *a",
        "? ",
        "- ",
        "---\n",
        "...\n",
    ),
    *("nan", ".nan", ".inf", "-.inf", "1e999", "-1", "0x7fffffffffffffff", "1_000", "007", "9" * 30, "9" * 5000),
    *(
        "null",
        "true",
        "yes",
        "~",
        "2026-11-30",
        "[",
        "]",
        "{",
        "}",
        "[" * 5000,
        "{a: " * 3000,
        "(" * 5000,
        ",",
        "=",
        "@main",
    ),
    *("../../../etc/passwd", "/dev/zero", "/dev/stdin", "a" * 70_000, "\u202e", "ß日本", "\ud800", "\x1b[2J", "\ufeff"),
    *(
        "${oc.env:HOME}",
        "${seed}",
        "${miai.mlruns:}",
        "${a}",
        "${",
        "${oc.decode:1}",
        "$(touch canary)",
        "`touch canary`",
    ),
    *(f"!!python/object/apply:os.system ['{COMMAND}']", f"_target_: os.system\ncommand: {COMMAND}", "%YAML 9.9\n"),
    *(
        "a: &a [x]\nb: &b [*a,*a,*a,*a,*a,*a,*a]\nc: [*b,*b,*b,*b,*b,*b,*b]\n",
        "range(0,1e9)",
        "interval(0,1)",
        "glob(*)",
    ),
)
"""Texts that have been trouble somewhere."""

NASTY_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2**31, 2**63, -(2**63), 10**40, 0.5, -0.0, 1e308, float("inf"), float("nan")),
    *("", "x", "9" * 5000, "../../x", "\0", [], {}, [[]], [1, "a", None], {"": ""}, {"name": "os.system"}),
)
"""The same, as values of JSON and YAML."""


def damage(content: bytes, mutations: tuple[Mutation, ...], rng: Random) -> bytes:
    """Return the content after one to three mutations."""
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        content = rng.choice(mutations)(content, rng)
    return content


# ---- any bytes ----


def _span(content: bytes, rng: Random) -> tuple[int, int]:
    """A part of the content; more often than not a short one, and near the beginning, where headers are."""
    end = len(content) if rng.random() < 0.5 else min(len(content), 300)
    start = rng.randint(0, end)
    return start, min(len(content), start + rng.choice((1, 2, 8, 64, 4096)))


def flip_bits(content: bytes, rng: Random) -> bytes:
    damaged = bytearray(content)
    for _ in range(rng.choice((1, 1, 2, 8))):
        if damaged:
            damaged[min(len(damaged) - 1, _span(content, rng)[0])] ^= 1 << rng.randrange(8)
    return bytes(damaged)


def truncate(content: bytes, rng: Random) -> bytes:
    return content[: rng.randint(0, len(content))]


def append(content: bytes, rng: Random) -> bytes:
    return content + rng.randbytes(rng.choice((1, 8, 1000)))


def delete(content: bytes, rng: Random) -> bytes:
    start, end = _span(content, rng)
    return content[:start] + content[end:]


def duplicate(content: bytes, rng: Random) -> bytes:
    start, end = _span(content, rng)
    return content[:end] + content[start:end] * rng.choice((1, 1, 100)) + content[end:]


def blank(content: bytes, rng: Random) -> bytes:
    """What a disk gives back for a block that it has lost."""
    start, end = _span(content, rng)
    return content[:start] + bytes(end - start) + content[end:]


def scramble(content: bytes, rng: Random) -> bytes:
    start, end = _span(content, rng)
    return content[:start] + rng.randbytes(end - start) + content[end:]


def replace_all(content: bytes, rng: Random) -> bytes:
    return rng.choice(
        (b"", PICKLE, b"\0" * 100, rng.randbytes(200), b"PK\x03\x04", b"\x93NUMPY", b"{}", b"<html></html>")
    )


MUTATIONS: tuple[Mutation, ...] = (
    *(flip_bits, truncate, append, delete, duplicate, blank, scramble),
    *(flip_bits, scramble, replace_all),
)


# ---- texts ----


def insert_nasty(content: bytes, rng: Random) -> bytes:
    start, end = _span(content, rng)
    nasty = rng.choice(NASTY).encode("utf-8", "surrogatepass")
    return content[:start] + nasty + content[end if rng.random() < 0.5 else start :]


def change_a_number(content: bytes, rng: Random) -> bytes:
    digits = [index for index, byte in enumerate(content) if 48 <= byte <= 57]
    if not digits:
        return content
    place = rng.choice(digits)
    return (
        content[:place]
        + rng.choice(("", "-", "9" * 30, "9" * 10, "1e9", ".", "0", "x")).encode()
        + content[place + 1 :]
    )


def change_a_word(content: bytes, rng: Random) -> bytes:
    """Put a nasty value in the place of what follows a colon or an equals sign, or is between brackets."""
    marks = [index for index, byte in enumerate(content) if byte in b":=[,"]
    if not marks:
        return content
    start = rng.choice(marks) + 1
    end = next((index for index in range(start, len(content)) if content[index] in b"\n,]}"), len(content))
    return content[:start] + b" " + rng.choice(NASTY).encode("utf-8", "surrogatepass") + content[end:]


def change_encoding(content: bytes, rng: Random) -> bytes:
    text = content.decode("utf-8", "replace")
    return text.encode(rng.choice(("utf-16", "utf-16-le", "utf-32", "utf-8-sig", "latin-1")), "replace")


def shuffle_lines(content: bytes, rng: Random) -> bytes:
    lines = content.split(b"\n")
    if rng.random() < 0.5:
        rng.shuffle(lines)
    else:
        place = rng.randrange(len(lines))
        lines[place] = rng.choice((b"  ", b"\t", b"      ")) + lines[place]
    return b"\n".join(lines)


TEXT: tuple[Mutation, ...] = (
    *(*MUTATIONS, insert_nasty, insert_nasty, change_a_number, change_a_number),
    *(change_a_word, change_a_word, change_a_word, change_encoding, shuffle_lines),
)


# ---- trees: JSON, and what YAML holds ----


def change_tree(tree: Any, rng: Random) -> Any:
    """Return a copy of nested dicts and lists in which one place is another: changed, missing, doubled or renamed."""
    if isinstance(tree, dict) and tree and rng.random() < 0.9:
        key = rng.choice(list(tree))
        changed = dict(tree)
        kind = rng.random()
        if kind < 0.7:
            changed[key] = change_tree(tree[key], rng)
        elif kind < 0.8:
            del changed[key]
        elif kind < 0.9:
            changed[rng.choice(("x", "", "__class__", "_target_", "name"))] = changed.pop(key)
        else:
            changed[rng.choice(NASTY)] = rng.choice(NASTY_VALUES)
        return changed
    if isinstance(tree, list) and tree and rng.random() < 0.9:
        place = rng.randrange(len(tree))
        kind = rng.random()
        if kind < 0.7:
            return [*tree[:place], change_tree(tree[place], rng), *tree[place + 1 :]]
        return [*tree[:place], *tree[place + 1 :]] if kind < 0.85 else [*tree, *tree]
    return rng.choice(NASTY_VALUES if rng.random() < 0.8 else NASTY)


def change_json(content: bytes, rng: Random) -> bytes:
    try:
        tree = json.loads(content)
    except (ValueError, RecursionError):
        return flip_bits(content, rng)
    text = json.dumps(change_tree(tree, rng))
    if rng.random() < 0.1:  # A key that stands twice.
        text = text.replace("{", '{"key": 1, "key": 2, ', 1)
    return text.encode()


JSON: tuple[Mutation, ...] = (*TEXT, *[change_json] * len(TEXT))


def change_yaml(content: bytes, rng: Random) -> bytes:
    import yaml

    try:
        tree = yaml.safe_load(content)
    except (yaml.YAMLError, ValueError, RecursionError, TypeError):
        return flip_bits(content, rng)
    return yaml.safe_dump(change_tree(tree, rng), allow_unicode=True, sort_keys=False).encode("utf-8", "surrogatepass")


YAML: tuple[Mutation, ...] = (*TEXT, *[change_yaml] * len(TEXT))


# ---- safetensors: a header's length, a header, arrays ----


def change_header(content: bytes, rng: Random) -> bytes:
    """Change the header, and make its length right."""
    size = int.from_bytes(content[:8], "little")
    header, body = content[8 : 8 + size], content[8 + size :]
    kind = rng.random()
    if kind < 0.5:
        header = change_json(header, rng)
    elif kind < 0.8:
        header = _change_metadata(header, rng)
    else:
        header = rng.choice(TEXT)(header, rng)
    return len(header).to_bytes(8, "little") + header + body


def _change_metadata(header: bytes, rng: Random) -> bytes:
    """Change the JSON within the JSON."""
    try:
        tree = json.loads(header)
        tree["__metadata__"]["miai"] = change_json(tree["__metadata__"]["miai"].encode(), rng).decode()
        return json.dumps(tree).encode()
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return flip_bits(header, rng)


def change_length(content: bytes, rng: Random) -> bytes:
    size = rng.choice(
        (0, 1, 2**63 - 1, 2**64 - 1, 100_000_001, len(content), max(0, len(content) - 8), rng.randrange(2**16))
    )
    return struct.pack("<Q", size) + content[8:]


def change_arrays(content: bytes, rng: Random) -> bytes:
    """Damage the arrays alone, which no checksum guards."""
    start = 8 + int.from_bytes(content[:8], "little")
    body = bytearray(content[start:])
    for _ in range(rng.choice((1, 4, 64))):
        if body:
            place = rng.randrange(len(body))
            body[place : place + 8] = rng.choice((b"\xff" * 8, bytes(8), rng.randbytes(8)))[: len(body) - place]
    return content[:start] + bytes(body)


TENSORS: tuple[Mutation, ...] = (*MUTATIONS, *[change_header] * 6, change_length, *[change_arrays] * 3)


# ---- NumPy's archives ----


def change_member(content: bytes, rng: Random) -> bytes:
    """Damage a member of the archive under a checksum that is right again."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
    except Exception:
        return flip_bits(content, rng)
    if not members:
        return content
    name = rng.choice(list(members))
    kind = rng.random()
    if kind < 0.5:
        members[name] = rng.choice(MUTATIONS)(members[name], rng)
    elif kind < 0.6:
        members[name] = _npy(rng)
    elif kind < 0.7:
        members[name] = PICKLE if rng.random() < 0.5 else _header("|O", "(1,)") + PICKLE
    elif kind < 0.8:
        del members[name]
    elif kind < 0.9:
        members[rng.choice(("x.npy", "../../x.npy", ".npy", "meta", "__rows__.npy"))] = members.pop(name)
    else:
        place = members[name].find(b"{")
        members[name] = _json_in(members[name], place, rng) if place >= 0 else members[name][:50]
    packed = io.BytesIO()
    compression = rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))
    with zipfile.ZipFile(packed, "w", compression) as archive:
        for member, data in members.items():
            archive.writestr(member, data)
    return packed.getvalue()


def _header(dtype: str, shape: str) -> bytes:
    text = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    text += b" " * (-(len(text) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text


def _npy(rng: Random) -> bytes:
    """An array that is sound, or whose header claims too much."""
    dtype = rng.choice(("<f8", "|i1", "<i8", "<U3", "<c16", "|S0", "<f8", "|V8", "<M8[s]"))
    shape = rng.choice(
        ("(0,)", "()", "(3,)", "(99999999999,)", "(2, 3)", "(-1,)", "(9223372036854775807, 2)", "(0, 9)")
    )
    return _header(dtype, shape) + rng.randbytes(48)


def _json_in(member: bytes, place: int, rng: Random) -> bytes:
    """Change a JSON text that an array of characters (UCS-4, little endian) holds, as `meta` of a table does."""
    start = member.find(b"\n") + 1
    try:
        text = member[start:].decode("utf-32-le")
        changed = change_json(text.encode(), rng).decode("utf-8", "replace")
    except (ValueError, UnicodeError):
        return flip_bits(member, rng)
    return _header(f"<U{len(changed)}", "()") + changed.encode("utf-32-le", "surrogatepass")


ARCHIVE: tuple[Mutation, ...] = (*MUTATIONS, *[change_member] * len(MUTATIONS))
