"""A game of Go in progress: the rules of the whole game on top of the compiled board.

Start reading at `GoGame.play`. The board knows captures and simple ko. This file adds what needs the history: superko,
the end by two passes, undo, resignation, scoring by area, and handicap.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from miai.errors import choose
from miai.games.game import FIRST, PASS, SECOND
from miai.games.go import zobrist
from miai.games.go.board import (
    BEFORE_LAST,
    BLACK,
    COLOUR,
    KO,
    LAST,
    NO_POINT,
    NUM_EMPTY,
    PASS_POINT,
    POINTS,
    WHITE,
    flat_to_point,
    is_legal,
    new_board,
    play,
    point_to_flat,
)
from miai.games.go.coordinates import check_flat, check_size, from_gtp, to_gtp
from miai.games.go.handicap import fixed_handicap
from miai.games.go.render import read_diagram, render
from miai.games.go.scoring import area_difference, find_owners

SUPERKO = ("positional", "situational", "none")
"""What may not be repeated: the stones on the board; the stones with the same side to move; or simple ko alone."""

MAX_KOMI = 400


def check_komi(komi: float) -> float:
    """Return komi as a float if it is a half or whole number from −400 to 400; raise `ValueError` otherwise."""
    if not (abs(komi) <= MAX_KOMI and float(2 * komi).is_integer()):
        raise ValueError(f"komi must be a whole or half number from {-MAX_KOMI} to {MAX_KOMI}, got {komi!r}")
    return float(komi)


def _colour(to_play: int) -> np.uint64:
    return BLACK if to_play == FIRST else WHITE


def _scratch() -> tuple[np.ndarray, np.ndarray]:
    """Return the two arrays that scoring writes to."""
    return np.empty(POINTS, np.uint8), np.empty(POINTS, np.uint16)


class GoGame:
    """Go by the Tromp–Taylor rules, with switches. Black is the first player (+1), White the second (−1).

    Args:
        size: 2 to 19.
        komi: points for White, any whole or half number; a whole one makes draws possible.
        superko: `positional`, `situational` or `none` (then simple ko alone).
        suicide: whether a move may leave the mover's own stones without a liberty (they then leave the board).
        handicap: 0, a number of stones for the fixed placement, or the flat indices of the stones. White moves first
            then.

    Raises:
        ValueError: an argument is not allowed.
        MiaiError: `superko` is no such choice.
    """

    def __init__(
        self,
        size: int = 19,
        komi: float = 7.5,
        superko: str = "positional",
        suicide: bool = False,
        handicap: int | Sequence[int] = 0,
    ) -> None:
        self.name = "go"
        self.size = check_size(size)
        self.komi = check_komi(komi)
        self.superko = choose(superko, SUPERKO, "superko")
        self.suicide = bool(suicide)
        self.handicap: tuple[int, ...] = ()
        self._start(new_board(size), FIRST)
        if isinstance(handicap, int):
            handicap = fixed_handicap(size, handicap) if handicap else ()
        if len(handicap):
            self.place_handicap(handicap)

    @classmethod
    def from_diagram(cls, diagram: str, to_play: int = FIRST, **rules: object) -> GoGame:
        """Return a game that starts from a drawn position (see `render.read_diagram`); `rules` as for the class."""
        board = read_diagram(diagram)
        game = cls(size=len(board), **rules)  # type: ignore[arg-type]
        game.setup(np.flatnonzero(board == FIRST), np.flatnonzero(board == SECOND), to_play)
        return game

    def _start(self, board: tuple[np.ndarray, np.ndarray], to_play: int) -> None:
        """Begin the history anew from a board."""
        self._boards = [board]
        self._turns = [to_play]
        self._moves: list[int] = []
        self._movers: list[int] = []
        self._resigned: int | None = None
        self._keys = [self._key(int(zobrist.stones_key(board[0])), to_play)]

    # --- The position -------------------------------------------------------------------------------------------------

    @property
    def to_play(self) -> int:
        return self._turns[-1]

    @property
    def moves(self) -> tuple[int, ...]:
        return tuple(self._moves)

    @property
    def history(self) -> tuple[tuple[int, int], ...]:
        """The moves so far with who made them: (+1 or −1, move)."""
        return tuple(zip(self._movers, self._moves, strict=True))

    @property
    def start_key(self) -> int:
        """The Zobrist key of the position that the history begins with."""
        return int(zobrist.position_key(self._boards[0][0], _colour(self._turns[0])))

    @property
    def state(self) -> tuple[np.ndarray, np.ndarray]:
        """The compiled board (cells, liberties) now. The history shares it: copy before you change it."""
        return self._boards[-1]

    @property
    def start(self) -> tuple[np.ndarray, np.ndarray]:
        """The compiled board that the history begins with, shared like `state`."""
        return self._boards[0]

    @property
    def board(self) -> np.ndarray:
        """The stones now, int8[N, N]: +1 black, −1 white, 0 empty, row 0 at the top."""
        frame = self.state[0][:POINTS].reshape(21, 21)[1 : self.size + 1, 1 : self.size + 1]
        return np.array([0, FIRST, SECOND], np.int8)[frame]

    @property
    def ko(self) -> int | None:
        """The point that simple ko forbids now, or `None`."""
        point = self.state[0][KO]
        return None if point == NO_POINT else point_to_flat(point, self.size)

    @property
    def key(self) -> int:
        """The Zobrist key of stones, side to move and ko point."""
        return int(zobrist.position_key(self.state[0], _colour(self.to_play)))

    def _key(self, stones: int, to_play: int) -> int:
        return stones ^ int(zobrist.side_key(_colour(to_play))) if self.superko == "situational" else stones

    # --- Moves --------------------------------------------------------------------------------------------------------

    @property
    def is_over(self) -> bool:
        return self._resigned is not None or (len(self._moves) >= 2 and self._moves[-1] == self._moves[-2] == PASS)

    def legal_moves(self) -> tuple[int, ...]:
        """Return the legal points in ascending order, then `PASS`, always legal; none when the game is over."""
        if self.is_over:
            return ()
        flats, keys = zobrist.legal_points(*self.state, _colour(self.to_play), self.suicide)
        if self.superko == "none":
            return (*flats.tolist(), PASS)
        seen = set(self._keys)
        pairs = zip(flats.tolist(), keys.tolist(), strict=True)
        return (*(flat for flat, key in pairs if self._key(key, -self.to_play) not in seen), PASS)

    def is_legal(self, move: int) -> bool:
        return self._illegal(move) is None

    def _illegal(self, move: int) -> str | None:
        """Say why a move is illegal, or return `None`."""
        if self.is_over:
            return "the game is over"
        if move == PASS:
            return None
        if not 0 <= move < self.size * self.size:
            return f"not a point from 0 to {self.size * self.size - 1}, nor PASS"
        cells, liberties = self.state
        point, colour = flat_to_point(move, self.size), _colour(self.to_play)
        if not is_legal(cells, liberties, point, colour, self.suicide):
            if cells[int(COLOUR) + int(point)]:
                return "the point is occupied"
            return "ko" if cells[KO] == point else "suicide"
        if self.superko != "none":
            stones = zobrist.key_of_move(cells, liberties, point, colour)
            if self._key(int(stones), -self.to_play) in self._keys:
                return f"{self.superko} superko"
        return None

    def play(self, move: int) -> None:
        """Play a move of the side to move.

        Raises:
            ValueError: the move is illegal (with the reason), or the game is over; nothing has changed then.
        """
        reason = self._illegal(move)
        if reason:
            name = to_gtp(move, self.size) if -1 <= move < self.size * self.size else repr(move)
            raise ValueError(f"illegal move {name}: {reason}")
        cells, liberties = self.state[0].copy(), self.state[1].copy()
        play(cells, liberties, flat_to_point(move, self.size), _colour(self.to_play))
        self._boards.append((cells, liberties))
        self._moves.append(int(move))
        self._movers.append(self.to_play)
        self._turns.append(-self.to_play)
        self._keys.append(self._key(int(zobrist.stones_key(cells)), self.to_play))

    def play_as(self, colour: int, move: int) -> None:
        """Play a move of either side, as GTP and records allow: the turn is handed over first if it is not `colour`'s.

        Raises:
            ValueError: as `play`.
        """
        before = self.to_play
        self.give_turn(colour)
        try:
            self.play(move)
        except ValueError:
            self.give_turn(before)
            raise

    def give_turn(self, colour: int) -> None:
        """Let `colour` (+1 or −1) move next, as GTP does when it asks for a move of either side."""
        if colour not in (FIRST, SECOND):
            raise ValueError(f"colour must be {FIRST} or {SECOND}, got {colour!r}")
        self._turns[-1] = colour
        self._keys[-1] = self._key(int(zobrist.stones_key(self.state[0])), colour)

    def undo(self) -> None:
        """Take the last move back, or the resignation if there was one.

        Raises:
            ValueError: nothing has been played since the start, the set-up or the handicap.
        """
        if self._resigned is not None:
            self._resigned = None
            return
        if not self._moves:
            raise ValueError("there is no move to take back")
        for stack in (self._boards, self._moves, self._movers, self._turns, self._keys):
            stack.pop()

    def resign(self, player: int | None = None) -> None:
        """Let `player` (+1 or −1; the side to move if `None`) give the game up.

        Raises:
            ValueError: the game is over already.
        """
        if self.is_over:
            raise ValueError("the game is over, nobody can resign")
        self._resigned = self.to_play if player is None else player

    def copy(self) -> GoGame:
        """Return a game that goes its own way from here; boards of the past are shared, as nothing changes them."""
        other = GoGame.__new__(GoGame)
        other.__dict__.update(self.__dict__)
        for name in ("_boards", "_turns", "_moves", "_movers", "_keys"):
            setattr(other, name, list(getattr(self, name)))
        return other

    # --- Set-up -------------------------------------------------------------------------------------------------------

    def setup(self, black: Sequence[int] | np.ndarray, white: Sequence[int] | np.ndarray, to_play: int = FIRST) -> None:
        """Start anew from a position: flat indices of the stones, and who moves. The history begins here.

        Raises:
            ValueError: a point is off the board or named twice, or a chain would have no liberty.
        """
        if to_play not in (FIRST, SECOND):
            raise ValueError(f"to_play must be {FIRST} or {SECOND}, got {to_play!r}")
        stones = [
            (check_flat(int(flat), self.size), colour)
            for colour, side in ((BLACK, black), (WHITE, white))
            for flat in side
        ]
        if len({flat for flat, _ in stones}) < len(stones):
            raise ValueError("a point is named twice in a set-up")
        cells, liberties = new_board(self.size)
        empty = self.size * self.size
        for flat, colour in stones:
            # While a chain is not complete its missing stones are liberties, so in any order of placing, the first
            # chain to lose its last liberty is one that has none in the whole position.
            play(cells, liberties, flat_to_point(flat, self.size), colour)
            empty -= 1
            if cells[NUM_EMPTY] != empty:
                raise ValueError("a set-up holds a chain without a liberty")
        cells[KO], cells[LAST], cells[BEFORE_LAST] = NO_POINT, PASS_POINT, PASS_POINT
        self.handicap = ()
        self._start((cells, liberties), to_play)

    def place_handicap(self, stones: Sequence[int]) -> None:
        """Put Black's handicap stones on the empty board; White moves next.

        Raises:
            ValueError: moves were played, stones stand on the board, fewer than 2 stones, or no point would stay empty.
        """
        if self._moves or self.board.any():
            raise ValueError("handicap stones need an empty board and no moves played")
        if not 2 <= len(stones) < self.size * self.size:
            raise ValueError(f"handicap: allowed 2 to {self.size * self.size - 1} stones, got {len(stones)}")
        self.setup(stones, (), SECOND)
        self.handicap = tuple(int(flat) for flat in stones)

    # --- Result -------------------------------------------------------------------------------------------------------

    def score(self) -> float:
        """Return Black's area minus White's minus komi, every stone on the board alive (also in a game under way)."""
        return float(area_difference(self.state[0], *_scratch())) - self.komi

    def area(self) -> np.ndarray:
        """Return whose area each point is, int8[N, N]: +1 Black's, −1 White's, 0 neutral."""
        owner, region = _scratch()
        find_owners(self.state[0], owner, region)
        frame = owner.reshape(21, 21)[1 : self.size + 1, 1 : self.size + 1]
        return np.array([0, FIRST, SECOND], np.int8)[frame]

    def outcome(self) -> int | None:
        if self._resigned is not None:
            return -self._resigned
        if not self.is_over:
            return None
        score = self.score()
        return FIRST if score > 0 else SECOND if score < 0 else 0

    def result_text(self) -> str:
        """Return the result as SGF writes it: `B+3.5`, `W+R`, `0` for a draw, `?` while the game goes on."""
        outcome = self.outcome()
        if outcome is None:
            return "?"
        if self._resigned is not None:
            return "W+R" if self._resigned == FIRST else "B+R"
        if outcome == 0:
            return "0"
        return f"{'B' if outcome == FIRST else 'W'}+{abs(self.score()):g}"

    # --- For people ---------------------------------------------------------------------------------------------------

    def move_name(self, move: int) -> str:
        return to_gtp(move, self.size)

    def parse_move(self, text: str) -> int:
        return from_gtp(text, self.size)

    def render(self, *, unicode: bool = False) -> str:
        last = self._moves[-1] if self._moves else None
        return render(self.board, last, unicode=unicode)
