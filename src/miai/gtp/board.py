"""The board behind the protocol: what GTP allows and a plain game does not.

GTP lets a controller play either colour at any time, play on after two passes, and take back past all of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from miai.errors import MiaiError
from miai.games.game import FIRST, SECOND
from miai.games.go import GoGame
from miai.games.go.coordinates import MAX_SIZE, MIN_SIZE, from_gtp, to_gtp
from miai.games.go.game import check_komi
from miai.games.go.handicap import fixed_handicap, free_handicap
from miai.gtp.protocol import GtpError, syntax_error
from miai.plain_text import shorten
from miai.records import parse_sgf, start_record
from miai.records.sgf import MAX_FILE_BYTES

DEFAULT_SIZE = 19


class GtpBoard:
    """The game that a session is at. Every method either does what it says or raises `GtpError` and changes nothing."""

    def __init__(
        self, size: int = DEFAULT_SIZE, komi: float = 7.5, superko: str = "positional", suicide: bool = False
    ) -> None:
        self._superko = superko
        self._suicide = suicide
        self.game = GoGame(size, komi, superko, suicide)
        self._earlier: list[GoGame] = []
        """Games that ended by two passes and were played on from: `game` begins where the last of them stopped."""

    @property
    def size(self) -> int:
        return self.game.size

    @property
    def num_moves(self) -> int:
        return len(self.game.moves) + sum(len(game.moves) for game in self._earlier)

    def clear(self, size: int | None = None) -> None:
        """Begin anew on an empty board; komi stays [GTP, clear_board]."""
        size = self.size if size is None else size
        if not MIN_SIZE <= size <= MAX_SIZE:
            raise GtpError("unacceptable size")
        self._begin(GoGame(size, self.game.komi, self._superko, self._suicide))

    def _begin(self, game: GoGame) -> None:
        self.game = game
        self._earlier = []

    def set_komi(self, komi: float) -> None:
        try:
            self.game.komi = check_komi(komi)
        except ValueError as error:
            raise GtpError(f"unacceptable komi: {error}") from None

    # --- Moves ---

    def vertex(self, text: str) -> int:
        """Read a vertex of this board, or a pass."""
        try:
            return from_gtp(text, self.size)
        except ValueError:
            raise syntax_error(f"{shorten(text)!r} is not a vertex of this board") from None

    def name(self, move: int) -> str:
        return to_gtp(move, self.size)

    def play(self, colour: int, move: int) -> None:
        game = self._resumed() if self.game.is_over else self.game
        try:
            game.play_as(colour, move)
        except ValueError as error:
            reason = str(error).rpartition(": ")[2]
            raise GtpError(f"illegal move: {reason}") from None
        if game is not self.game:
            self._earlier.append(self.game)
            self.game = game

    def with_turn(self, colour: int) -> GoGame:
        """Return a game to think about: a copy, played on if it was over, with `colour` to move."""
        game = self._resumed() if self.game.is_over else self.game.copy()
        if game.to_play != colour:
            game.give_turn(colour)
        return game

    def _resumed(self) -> GoGame:
        """Return the game as it goes on after two passes, as when players disagree. Superko begins to count anew."""
        over = self.game
        game = GoGame(over.size, over.komi, self._superko, self._suicide)
        black, white = (np.flatnonzero(over.board == colour) for colour in (FIRST, SECOND))
        game.setup(black, white, over.to_play)
        return game

    def undo(self) -> None:
        if not self.num_moves:
            raise GtpError("cannot undo")
        if not self.game.moves:
            komi = self.game.komi
            self.game = self._earlier.pop()
            self.game.komi = komi
        self.game.undo()

    # --- Handicap ---

    @property
    def is_empty(self) -> bool:
        return self.num_moves == 0 and not self.game.board.any()

    def fixed_handicap(self, stones: int) -> tuple[int, ...]:
        self._require_empty()
        try:
            return self._place(fixed_handicap(self.size, stones))
        except ValueError:
            raise GtpError("invalid number of stones") from None

    def free_handicap(self, stones: int) -> tuple[int, ...]:
        """Place stones where Miai likes. As the standard allows, fewer than asked for if the board is too small."""
        self._require_empty()
        most = self.size**2 - 1
        try:
            return self._place(free_handicap(self.size, min(stones, most)))
        except ValueError:
            raise GtpError("invalid number of stones") from None

    def set_handicap(self, points: Sequence[int]) -> None:
        self._require_empty()
        try:
            self._place(points)
        except ValueError:
            raise GtpError("bad vertex list") from None

    def _require_empty(self) -> None:
        if not self.is_empty:
            raise GtpError("board not empty")

    def _place(self, points: Sequence[int]) -> tuple[int, ...]:
        game = GoGame(self.size, self.game.komi, self._superko, self._suicide)
        game.place_handicap(points)
        self._begin(game)
        return tuple(points)

    # --- Files and results ---

    def load(self, path: str, before_move: int | None) -> None:
        """Load the main line of an SGF file, up to the position before move `before_move` or to its end."""
        try:
            file = Path(path).expanduser()
            if not file.is_file():  # nor a pipe or a terminal, which could keep us waiting
                raise GtpError("cannot load file: no such file")
            with file.open("rb") as stream:
                record = parse_sgf(stream.read(MAX_FILE_BYTES + 1), file.name)[0]
            game = start_record(
                record,
                komi=self.game.komi if record.komi is None else record.komi,
                superko=self._superko,
                suicide=self._suicide,
            )
        except (OSError, ValueError, RuntimeError, MiaiError) as error:
            raise GtpError(f"cannot load file: {error}") from None
        loaded = GtpBoard.__new__(GtpBoard)
        loaded.__dict__.update(self.__dict__)
        loaded._begin(game)
        moves = record.moves if before_move is None else record.moves[: max(0, before_move - 1)]
        for number, (colour, move) in enumerate(moves, 1):
            try:
                loaded.play(colour, move)
            except GtpError as error:
                raise GtpError(f"cannot load file: move {number}: {error}") from None
        self.__dict__.update(loaded.__dict__)

    def chains(self) -> list[list[int]]:
        """Return the points of each chain of stones, each ascending, in order of their first."""
        board = self.game.board
        size = self.size
        seen: set[int] = set()
        chains = []
        for start in np.flatnonzero(board.ravel()).tolist():
            if start in seen:
                continue
            chain, front = {start}, [start]
            while front:
                row, column = divmod(front.pop(), size)
                for r, c in ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)):
                    point = r * size + c
                    if 0 <= r < size and 0 <= c < size and point not in chain and board[r, c] == board.ravel()[start]:
                        chain.add(point)
                        front.append(point)
            seen |= chain
            chains.append(sorted(chain))
        return chains

    def score_text(self) -> str:
        """Return the result by area as GTP writes it, every stone on the board alive."""
        score = self.game.score()
        return "0" if score == 0 else f"{'B' if score > 0 else 'W'}+{abs(score):g}"
