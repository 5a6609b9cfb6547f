"""From a record to a game that can be played on, and from a game to its record."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from miai.games.game import FIRST, SECOND
from miai.games.go import GoGame
from miai.records.record import GameRecord, RecordError
from miai.records.result import Result


def start_record(
    record: GameRecord, *, komi: float | None = None, superko: str = "positional", suicide: bool = False
) -> GoGame:
    """Return the game before its first move, set-up stones placed.

    Args:
        record: what was recorded; its `rules` are a name of many meanings and are not looked at.
        komi: used instead of the record's if it is given, and needed where the record has none that can be played.
        superko, suicide: the rules, as in `GoGame`.

    Raises:
        RecordError: no komi, or one that is no whole or half number; a set-up chain without a liberty.
    """
    if komi is None:
        komi = record.komi
    if komi is None:
        raise RecordError(f"{record.source}: the record has no komi; one has to be given.")
    try:
        game = GoGame(record.size, komi, superko, suicide)
        black, white = record.setup
        if record.handicap >= 2 and len(black) == record.handicap and not white and record.to_play == SECOND:
            game.place_handicap(black)
        elif black or white or record.to_play != FIRST:
            game.setup(black, white, record.to_play)
    except ValueError as error:
        raise RecordError(f"{record.source}: {error}.") from None
    return game


def replay(
    record: GameRecord, *, komi: float | None = None, superko: str = "positional", suicide: bool = False
) -> Iterator[tuple[GoGame, int, int]]:
    """Yield (game, colour, move) before each move of the record is made; the game goes on as the iterator does.

    Raises:
        RecordError: as `start_record`; or at a move that the rules forbid, which it names.
    """
    game = start_record(record, komi=komi, superko=superko, suicide=suicide)
    for colour, move in _play_moves(game, record):
        yield game, colour, move


def finish_record(
    record: GameRecord, *, komi: float | None = None, superko: str = "positional", suicide: bool = False
) -> GoGame:
    """Return the game after the record's last move. Raises `RecordError` as `replay` does."""
    game = start_record(record, komi=komi, superko=superko, suicide=suicide)
    for _ in _play_moves(game, record):
        pass
    return game


def _play_moves(game: GoGame, record: GameRecord) -> Iterator[tuple[int, int]]:
    """Yield each move, then play it; `game` is modified in place."""
    for number, (colour, move) in enumerate(record.moves, 1):
        yield colour, move
        try:
            game.play_as(colour, move)
        except ValueError as error:
            raise RecordError(f"{record.source}: move {number}: {error}.") from None


def record_game(
    game: GoGame,
    *,
    players: tuple[str, str] = ("", ""),
    result: Result | None = None,
    date: str = "",
    source: str = "",
) -> GameRecord:
    """Return the record of a game, finished or not.

    Args:
        players: (black's name, white's name).
        result: how it ended, if that is not for the game itself to say (a forfeit, a limit of moves).
    """
    start = game.copy()
    while True:
        try:
            start.undo()
        except ValueError:
            break
    history = game.history
    return GameRecord(
        size=game.size,
        komi=game.komi,
        handicap=len(game.handicap),
        setup=(_points(start.board, FIRST), _points(start.board, SECOND)),
        to_play=history[0][0] if history else start.to_play,
        moves=tuple(history),
        result=Result.parse(game.result_text()) if result is None else result,
        players=players,
        rules="Tromp-Taylor" if game.suicide and game.superko == "positional" else "Chinese",
        date=date,
        source=source,
    )


def _points(board: np.ndarray, colour: int) -> tuple[int, ...]:
    return tuple(int(point) for point in np.flatnonzero(board.ravel() == colour))
