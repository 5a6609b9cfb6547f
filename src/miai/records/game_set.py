"""Many games of Go of one board size as a few flat arrays: what networks learn from.

Start reading at `GameSet`. The file (`games.safetensors`) is mapped, not read, so that a set may be larger than the
memory. Moves are flat indices, as everywhere in Miai (`games.go.coordinates`). Colours alternate in every game from
its `first_to_play`. Whether moves are legal is not checked here but, once, when a set is made (`records.legality`).
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path

import numpy as np

from miai.errors import MiaiError
from miai.games.game import PASS
from miai.records.record import BLACK, MAX_SIZE, MIN_SIZE, WHITE, GameRecord, RecordError
from miai.records.result import How, Result
from miai.tensor_file import load_tensors, save_tensors

GAMES_FILE = "games.safetensors"
"""The artifact of a run that makes a set."""
KIND = "games"
VERSION = 1

TRAIN, VALID, TEST = 0, 1, 2
SPLITS = ("train", "valid", "test")
"""Names of the codes of `GameSet.split`."""

SCORE, RESIGN, TIME, OTHER = 0, 1, 2, 3
ENDS = ("score", "resign", "time", "other")
"""Names of the codes of `GameSet.ended`. A drawn game ended by its score; what is not known is `OTHER`."""

_ENDED = {How.SCORE: SCORE, How.DRAW: SCORE, How.RESIGNATION: RESIGN, How.TIME: TIME}
_TYPES = {
    "start": "int64",
    "moves": "int16",
    "first_to_play": "int8",
    "opening": "int16",
    "komi": "float32",
    "winner": "int8",
    "ended": "uint8",
    "margin": "float32",
    "split": "uint8",
    "collection": "uint16",
    "black_setup_start": "int64",
    "black_setup": "int16",
    "white_setup_start": "int64",
    "white_setup": "int16",
}
_OFFSETS = {"start": "moves", "black_setup_start": "black_setup", "white_setup_start": "white_setup"}
"""Arrays that say where each game begins in another."""

MAX_MOVES = np.iinfo(np.int16).max
"""The longest game that a set holds."""
MAX_COLLECTIONS = np.iinfo(np.uint16).max


@dataclass(frozen=True, eq=False, kw_only=True)
class GameSet:
    """Games g = 0 … G − 1 on a board of N × N points, with M moves in all.

    Attributes:
        board_size: N.
        collections: names of the collections that the games come from.
        start: int64[G + 1]; moves of game g are `moves[start[g]:start[g + 1]]`.
        moves: int16[M], flat indices, a pass is `PASS` (−1).
        first_to_play: int8[G], +1 Black or −1 White.
        opening: int16[G]; so many moves at the beginning nobody chose: they were drawn at random, and are not to be
            learnt.
        komi: float32[G], NaN where it is not known.
        winner: int8[G], +1 Black, −1 White, 0 a draw or not known.
        ended: uint8[G], see `ENDS`.
        margin: float32[G], points by which a counted game was won, else 0.
        split: uint8[G], see `SPLITS`.
        collection: uint16[G], index into `collections`.
        black_setup_start, black_setup: int64[G + 1], int16[…]: Black's stones on the board before the first move.
        white_setup_start, white_setup: the same of White.
    """

    board_size: int
    collections: tuple[str, ...]
    start: np.ndarray
    moves: np.ndarray
    first_to_play: np.ndarray
    opening: np.ndarray
    komi: np.ndarray
    winner: np.ndarray
    ended: np.ndarray
    margin: np.ndarray
    split: np.ndarray
    collection: np.ndarray
    black_setup_start: np.ndarray
    black_setup: np.ndarray
    white_setup_start: np.ndarray
    white_setup: np.ndarray

    def __len__(self) -> int:
        return len(self.start) - 1

    @property
    def lengths(self) -> np.ndarray:
        """Moves of each game, passes included, int64[G]."""
        return np.diff(self.start)

    def moves_of(self, game: int) -> np.ndarray:
        """Return the moves of a game, int16[…], a view."""
        return self.moves[self.start[game] : self.start[game + 1]]

    def games(self, split: int | str | None = None, collections: Iterable[str] | None = None) -> np.ndarray:
        """Return the games of a split and of some collections, ascending: int64[…]; `None` takes all.

        Raises:
            ValueError: no such split.
            MiaiError: no such collection.
        """
        wanted = np.ones(len(self), bool)
        if split is not None:
            code = SPLITS.index(split) if split in SPLITS else split
            if code not in (TRAIN, VALID, TEST):
                raise ValueError(f"split must be one of {', '.join(SPLITS)} or their codes 0 to 2, got {split!r}")
            wanted &= self.split == code
        if collections is not None:
            names = list(collections)
            for name in names:
                if name not in self.collections:
                    raise MiaiError(f"collections: there is no {name!r}; the set has {', '.join(self.collections)}.")
            wanted &= np.isin(self.collection, [self.collections.index(name) for name in names])
        return np.flatnonzero(wanted)

    def take(self, games: np.ndarray | Sequence[int]) -> GameSet:
        """Return a set of these games alone, in the order given."""
        chosen = np.asarray(games, np.int64)
        taken = {name: getattr(self, name)[chosen] for name in _TYPES if name not in (*_OFFSETS, *_OFFSETS.values())}
        for offsets, values in _OFFSETS.items():
            taken[offsets], taken[values] = _take_runs(getattr(self, offsets), getattr(self, values), chosen)
        return replace(self, **taken)

    def to_record(self, game: int) -> GameRecord:
        """Return a game as a record, without what a set does not keep: names, ranks, rules, dates.

        Raises:
            ValueError: there is no such game.
        """
        if not 0 <= game < len(self):
            raise ValueError(f"game must be from 0 to {len(self) - 1}, got {game!r}")
        moves = self.moves_of(game).tolist()
        first = int(self.first_to_play[game])
        black, white = (self._setup(game, colour) for colour in (BLACK, WHITE))
        komi = float(self.komi[game])
        return GameRecord(
            size=self.board_size,
            komi=None if np.isnan(komi) else komi,
            handicap=len(black) if len(black) >= 2 and not white and first == WHITE else 0,
            setup=(black, white),
            to_play=first,
            moves=tuple((first if ply % 2 == 0 else -first, move) for ply, move in enumerate(moves)),
            result=self._result(game),
            source=f"{self.collections[self.collection[game]]}#{game}",
        )

    def _setup(self, game: int, colour: int) -> tuple[int, ...]:
        start, stones = (
            (self.black_setup_start, self.black_setup)
            if colour == BLACK
            else (self.white_setup_start, self.white_setup)
        )
        return tuple(stones[start[game] : start[game + 1]].tolist())

    def _result(self, game: int) -> Result:
        winner, ended, margin = int(self.winner[game]), int(self.ended[game]), float(self.margin[game])
        if winner == 0:
            return Result(0, How.DRAW) if ended == SCORE else Result()
        how = {RESIGN: How.RESIGNATION, TIME: How.TIME}.get(ended, How.SCORE if margin > 0 else How.WIN)
        return Result(winner, how, margin if how is How.SCORE else None)

    @classmethod
    def from_records(
        cls,
        records: Sequence[GameRecord],
        split: int | Sequence[int] = TRAIN,
        collection: str | Sequence[str] = "games",
        opening: int | Sequence[int] = 0,
    ) -> GameSet:
        """Make a set of records; `split`, `collection` and `opening` are of all of them, or one for each.

        Raises:
            ValueError: there are no records, or a split or an opening is out of range.
            RecordError: boards differ in size, or a game's colours do not alternate.
        """
        if not records:
            raise ValueError("at least one record is needed: an empty set has no board size")
        count = len(records)
        splits = [split] * count if isinstance(split, int) else split
        collections = [collection] * count if isinstance(collection, str) else collection
        openings = [opening] * count if isinstance(opening, int) else opening
        builder = GameSetBuilder(records[0].size)
        for record, part, name, drawn in zip(records, splits, collections, openings, strict=True):
            builder.add(record, part, name, drawn)
        return builder.build()

    def save(self, path: str | Path) -> None:
        """Write the set. The same games give the same bytes."""
        meta = {"board_size": self.board_size, "collections": list(self.collections)}
        save_tensors(path, KIND, VERSION, {name: getattr(self, name) for name in _TYPES}, meta)

    @classmethod
    def load(cls, path: str | Path) -> GameSet:
        """Map a set from its file.

        Raises:
            MiaiError: there is no such file, or it is no sound set of games.
        """
        arrays, meta = load_tensors(path, KIND, VERSION, _TYPES, mapped=True)
        size, names = meta.get("board_size"), meta.get("collections")
        if not (isinstance(size, int) and MIN_SIZE <= size <= MAX_SIZE):
            raise MiaiError(f"{path}: its board size is {size!r}; allowed: {MIN_SIZE} to {MAX_SIZE}.")
        if not (isinstance(names, list) and all(isinstance(name, str) for name in names)):
            raise MiaiError(f"{path}: the names of its collections are damaged.")
        found = cls(board_size=size, collections=tuple(names), **arrays)
        wrong = found._find_fault()
        if wrong:
            raise MiaiError(f"{path}: it is damaged: {wrong}.")
        return found

    def _find_fault(self) -> str | None:
        """Say which array does not fit the others or holds a value out of range; a kernel would trust it."""
        count = len(self.start) - 1
        if count < 0 or any(getattr(self, field.name).ndim != 1 for field in fields(self)[2:]):
            return "an array is not one-dimensional, or empty"
        for name in _TYPES:
            expected = count + 1 if name in _OFFSETS else count
            if name not in _OFFSETS.values() and len(getattr(self, name)) != expected:
                return f"{name} has {len(getattr(self, name))} values for {count} games"
        for offsets, values in _OFFSETS.items():
            start, end = getattr(self, offsets), len(getattr(self, values))
            if start[0] != 0 or start[-1] != end or np.any(np.diff(start) < 0):
                return f"{offsets} does not divide {values}"
        points = self.board_size**2
        ranges = {
            "moves": (PASS, points - 1),
            "black_setup": (0, points - 1),
            "white_setup": (0, points - 1),
            "first_to_play": (WHITE, BLACK),
            "opening": (0, MAX_MOVES),
            "winner": (-1, 1),
            "ended": (0, OTHER),
            "split": (0, TEST),
            "collection": (0, len(self.collections) - 1),
        }
        for name, (low, high) in ranges.items():
            values = getattr(self, name)
            if len(values) and not low <= values.min() <= values.max() <= high:
                return f"a value of {name} is not from {low} to {high}"
        if np.any(self.first_to_play == 0) or np.any(self.lengths > MAX_MOVES) or np.any(self.opening > self.lengths):
            return "nobody moves first in a game, it has too many moves, or fewer than its opening"
        return None


class GameSetBuilder:
    """Takes games one after the other, compactly."""

    def __init__(self, board_size: int) -> None:
        if not MIN_SIZE <= board_size <= MAX_SIZE:
            raise ValueError(f"board size must be from {MIN_SIZE} to {MAX_SIZE}, got {board_size!r}")
        self.board_size = board_size
        self._collections: dict[str, int] = {}
        self._values: dict[str, array] = {name: array(np.dtype(dtype).char) for name, dtype in _TYPES.items()}
        for offsets in _OFFSETS:
            self._values[offsets].append(0)

    def __len__(self) -> int:
        return len(self._values["start"]) - 1

    def add(self, record: GameRecord, split: int = TRAIN, collection: str = "games", opening: int = 0) -> None:
        """Add a game.

        Raises:
            ValueError: no such split, or an opening longer than the game.
            RecordError: another board size, too many moves, or colours that do not alternate.
        """
        if split not in (TRAIN, VALID, TEST):
            raise ValueError(f"split must be 0 (train), 1 (valid) or 2 (test), got {split!r}")
        if not 0 <= opening <= len(record.moves):
            raise ValueError(f"opening must be from 0 to the game's {len(record.moves)} moves, got {opening!r}")
        if record.size != self.board_size:
            raise RecordError(f"{record.source}: size {record.size}; the set is of size {self.board_size}.")
        if len(record.moves) > MAX_MOVES:
            raise RecordError(f"{record.source}: {len(record.moves)} moves; a set holds games of up to {MAX_MOVES}.")
        if not alternates(record):
            raise RecordError(f"{record.source}: one colour moves twice running.")
        number = self._collections.setdefault(collection, len(self._collections))
        if number >= MAX_COLLECTIONS:
            raise RecordError(f"{record.source}: a set holds games of up to {MAX_COLLECTIONS} collections.")
        values, result = self._values, record.result
        values["moves"].extend([move for _, move in record.moves])
        for name, stones in zip(("black_setup", "white_setup"), record.setup, strict=True):
            values[name].extend(stones)
        for offsets, name in _OFFSETS.items():
            values[offsets].append(len(values[name]))
        values["first_to_play"].append(record.to_play)
        values["opening"].append(opening)
        values["komi"].append(np.nan if record.komi is None else record.komi)
        values["winner"].append(result.winner or 0)
        values["ended"].append(_ENDED.get(result.how, OTHER))
        values["margin"].append(result.margin or 0.0)
        values["split"].append(split)
        values["collection"].append(number)

    def build(self) -> GameSet:
        """Return the set of the games so far."""
        arrays = {name: np.array(self._values[name], dtype) for name, dtype in _TYPES.items()}
        return GameSet(board_size=self.board_size, collections=tuple(self._collections), **arrays)


def alternates(record: GameRecord) -> bool:
    """Whether the colours take turns from the first move to the last."""
    first, second = ({colour for colour, _ in record.moves[turn::2]} for turn in (0, 1))
    return len(first) <= 1 and len(second) <= 1 and not first & second


def _take_runs(start: np.ndarray, values: np.ndarray, games: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return offsets and values of some games alone."""
    own = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.diff(start)[games])])
    # By slices: an index of all values would be four times as large as they are.
    runs = [values[start[game] : start[game + 1]] for game in games.tolist()]
    return own, np.concatenate([values[:0], *runs])
