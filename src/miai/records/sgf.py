"""SGF text to `GameRecord`: FF[1] to FF[4], the main line only. The grammar is sgfmill's; the meaning is here."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache

from sgfmill import sgf_grammar

from miai.games.game import PASS
from miai.records.encoding import decode
from miai.records.record import BLACK, MAX_SIZE, MIN_SIZE, WHITE, GameRecord, RecordError
from miai.records.result import Result

Node = Mapping[str, list[bytes]]

MAX_FILE_BYTES = 8 * 1024 * 1024
"""Files above this are refused unread. Commented professional games stay below 1 MB."""
DEFAULT_SIZE = 19
GAME_OF_GO = "1"


def parse_sgf(data: bytes | str, source: str = "") -> list[GameRecord]:
    """Read every game of an SGF file; of each, the main line (the first variation, throughout).

    Args:
        data: the file; bytes are decoded as `encoding.decode` explains.
        source: the file's name, for messages and for `GameRecord.source`. Games after the first get `#2`, `#3` …

    Raises:
        RecordError: nothing else, whatever the bytes are. If one game of a file is damaged, the file is.
    """
    where = f"{source}: " if source else ""
    if len(data) > MAX_FILE_BYTES:
        raise RecordError(f"{where}{len(data):,} bytes; SGF files of at most {MAX_FILE_BYTES:,} are read.")
    text = data if isinstance(data, str) else decode(data)
    try:
        # Decoded and encoded anew because in GB18030 a `]` may be the second half of a character.
        trees = sgf_grammar.parse_sgf_collection(text.encode("utf-8"))
    except ValueError as error:
        raise RecordError(f"{where}not SGF: {error}.") from None
    records = []
    for number, tree in enumerate(trees, 1):
        name = source if number == 1 else f"{source}#{number}"
        try:
            records.append(_read_game(list(sgf_grammar.main_sequence_iter(tree)), name))
        except RecordError as error:
            raise RecordError(f"{name}: {error}" if name else str(error)) from None
    return records


def _read_game(nodes: list[Node], source: str) -> GameRecord:
    root = nodes[0]
    game = _text(root, "GM") or GAME_OF_GO
    if game != GAME_OF_GO:
        raise RecordError(f"GM[{game[:20]}] is not Go, which is GM[{GAME_OF_GO}].")
    size = _size(_text(root, "SZ"))
    stones: dict[int, int] = {}
    moves: list[tuple[int, int]] = []
    declared_to_play = None
    for node in nodes:
        if any(name in node for name in ("AB", "AW", "AE")):
            if moves:
                raise RecordError(f"set-up stones after move {len(moves)}; Miai reads them before the first move only.")
            _set_up(node, size, stones)
        if "PL" in node and not moves:
            declared_to_play = _side(_text(node, "PL"))
        if "B" in node or "W" in node:
            if "B" in node and "W" in node:
                raise RecordError(f"node with a move of either colour after move {len(moves)}.")
            colour, name = (BLACK, "B") if "B" in node else (WHITE, "W")
            moves.append((colour, _move(node[name][0], size, len(moves) + 1)))
    handicap = _whole(_text(root, "HA"))
    if moves:
        to_play = moves[0][0]
    elif declared_to_play is not None:
        to_play = declared_to_play
    else:
        to_play = WHITE if handicap >= 2 else BLACK
    return GameRecord(
        size=size,
        komi=_komi(_text(root, "KM"), size),
        handicap=handicap,
        setup=(
            tuple(sorted(point for point, colour in stones.items() if colour == BLACK)),
            tuple(sorted(point for point, colour in stones.items() if colour == WHITE)),
        ),
        to_play=to_play,
        moves=tuple(moves),
        result=Result.parse(_text(root, "RE")),
        players=(_text(root, "PB"), _text(root, "PW")),
        ranks=(_text(root, "BR"), _text(root, "WR")),
        rules=_text(root, "RU"),
        date=_text(root, "DT"),
        source=source,
    )


def _text(node: Node, name: str) -> str:
    """Return the first value of a property as SimpleText, empty if it is missing."""
    values = node.get(name)
    return sgf_grammar.simpletext_value(values[0]).decode("utf-8").strip() if values else ""


def _size(text: str) -> int:
    if not text:
        return DEFAULT_SIZE
    columns, _, rows = text.partition(":")
    if rows and rows.strip() != columns.strip():
        raise RecordError(f"SZ[{text[:20]}]: only square boards are read.")
    size = _whole(columns)
    if not MIN_SIZE <= size <= MAX_SIZE:
        raise RecordError(f"SZ[{text[:20]}]: Miai plays Go on {MIN_SIZE} to {MAX_SIZE}.")
    return size


def _whole(text: str) -> int:
    """Read a small whole number; 0 if it is none, since HA[] and HA[-] mean no handicap."""
    plain = text.strip()
    return int(plain) if plain.isascii() and plain.isdigit() and len(plain) <= 4 else 0


def _komi(text: str, size: int) -> float | None:
    """Read a komi. `None` if it is no number or larger than the board: some servers write hundredths of a zi."""
    try:
        komi = float(text.replace(",", "."))
    except ValueError:
        return None
    return komi if math.isfinite(komi) and abs(komi) <= size * size else None


def _side(text: str) -> int | None:
    return {"b": BLACK, "1": BLACK, "w": WHITE, "2": WHITE}.get(text[:1].lower())


@lru_cache(maxsize=MAX_SIZE)
def _point_table(size: int) -> Mapping[bytes, int]:
    """Map SGF's two letters (column, then row from the top) to the flat index."""
    letters = "abcdefghijklmnopqrs"[:size]
    return {(column + row).encode(): i * size + j for i, row in enumerate(letters) for j, column in enumerate(letters)}


def _move(value: bytes, size: int, number: int) -> int:
    value = value.strip()
    move = _point_table(size).get(value)
    if move is not None:
        return move
    # FF[3] writes a pass as tt on boards up to 19×19, FF[4] as nothing.
    if value in (b"", b"tt"):
        return PASS
    raise RecordError(f"move {number} [{_printable(value)}] is not on the {size}×{size} board.")


def _set_up(node: Node, size: int, stones: dict[int, int]) -> None:
    """Apply AB, AW and AE to `stones` (point to colour), which is modified in place."""
    for name, colour in (("AB", BLACK), ("AW", WHITE), ("AE", 0)):
        for value in node.get(name, ()):
            for point in _points(value.strip(), size):
                if colour:
                    stones[point] = colour
                else:
                    stones.pop(point, None)


def _points(value: bytes, size: int) -> list[int]:
    """Read a point, or a compressed rectangle `upper left:lower right` of FF[4]."""
    table = _point_table(size)
    first, colon, last = value.partition(b":")
    if first not in table or (colon and last not in table):
        raise RecordError(f"set-up point [{_printable(value)}] is not on the {size}×{size} board.")
    if not colon:
        return [table[first]]
    (top, left), (bottom, right) = divmod(table[first], size), divmod(table[last], size)
    if top > bottom or left > right:
        raise RecordError(f"set-up rectangle [{_printable(value)}] does not go from upper left to lower right.")
    return [row * size + column for row in range(top, bottom + 1) for column in range(left, right + 1)]


def _printable(value: bytes) -> str:
    return value[:20].decode("ascii", "backslashreplace")
