"""`GameRecord` to SGF text: FF[4], UTF-8, one line of play."""

from __future__ import annotations

from sgfmill.sgf import Sgf_game

from miai.games.game import PASS
from miai.records.record import BLACK, WHITE, GameRecord
from miai.records.result import How


def write_sgf(record: GameRecord) -> str:
    """Return the record as SGF. `parse_sgf` gives the same record back, but for `source`.

    What SGF cannot carry is normalised: white space inside names becomes one kind of blank.
    """
    game = Sgf_game(record.size, encoding="UTF-8")
    root = game.get_root()
    for name, value in (
        ("PB", record.players[0]),
        ("PW", record.players[1]),
        ("BR", record.ranks[0]),
        ("WR", record.ranks[1]),
        ("RU", record.rules),
        ("DT", record.date),
    ):
        if value:
            root.set(name, value)
    if record.result.how is not How.UNKNOWN:
        root.set("RE", str(record.result))
    if record.komi is not None:
        root.set("KM", record.komi)
    if record.handicap:
        root.set("HA", record.handicap)
    black, white = record.setup
    if black or white:
        root.set_setup_stones([_point(p, record.size) for p in black], [_point(p, record.size) for p in white])
    if record.to_play != (WHITE if record.handicap >= 2 else BLACK):
        root.set("PL", _letter(record.to_play))
    for colour, move in record.moves:
        node = game.extend_main_sequence()
        node.set_move(_letter(colour), None if move == PASS else _point(move, record.size))
    return game.serialise().decode("utf-8")


def _letter(colour: int) -> str:
    return "b" if colour == BLACK else "w"


def _point(move: int, size: int) -> tuple[int, int]:
    """Return sgfmill's (row from the bottom, column)."""
    row, column = divmod(move, size)
    return size - 1 - row, column
