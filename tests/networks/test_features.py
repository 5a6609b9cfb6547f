"""The planes, one by one on drawn boards, and all of them against a slow encoder. X is black, O is white."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from games.go.test_ladders import BROKEN, FREE_WAY, replay_random
from miai.games.game import FIRST, PASS, SECOND
from miai.games.go import GoGame
from miai.games.go.boards import from_game, new_boards
from miai.games.go.symmetry import NUM_SYMMETRIES, transform
from miai.networks.features import PLANES, VALUE_PLANES, encode_boards, new_scratch

from . import plain_features

NAMES = PLANES[VALUE_PLANES]


def encode(game: GoGame, num_planes: int = VALUE_PLANES, symmetry: int = 0) -> np.ndarray:
    boards = new_boards(1, game.size)
    from_game(boards, 0, game)
    out = np.full((1, num_planes, game.size, game.size), 7, np.float32)
    encode_boards(boards, 1, num_planes, np.array([symmetry], np.uint8), out)
    return out[0]


class Seen:
    """What the planes of a position show, by vertices."""

    def __init__(self, game: GoGame) -> None:
        self.game, self.planes = game, encode(game)

    def __getitem__(self, name: str) -> set[str]:
        """The points of a plane."""
        return {self.game.move_name(int(flat)) for flat in np.flatnonzero(self.planes[NAMES.index(name)])}

    def values(self, feature: str) -> dict[str, str]:
        """The value at each point where a feature of eight planes has one; no point has two."""
        found: dict[str, str] = {}
        for value in ("1", "2", "3", "4", "5", "6", "7", "8+"):
            for point in self[f"{feature} {value}"]:
                assert point not in found
                found[point] = value
        return found


def draw(diagram: str, to_play: int = FIRST) -> Seen:
    return Seen(GoGame.from_diagram(diagram, to_play))


def after(size: int, *moves: str) -> Seen:
    game = GoGame(size)
    for name in moves:
        game.play(game.parse_move(name))
    return Seen(game)


def test_names_and_numbers_of_planes() -> None:
    assert {count: len(names) for count, names in PLANES.items()} == {4: 4, 12: 12, 48: 48, 49: 49}
    assert len(set(NAMES)) == 49
    assert PLANES[4] == ("own stone", "opponent's stone", "empty", "ones")
    assert PLANES[12][4:] == tuple(f"turns since {n}" for n in ("1", "2", "3", "4", "5", "6", "7", "8+"))
    assert [NAMES.index(f"{name} 1") for name in ("liberties", "capture size", "self-atari size")] == [12, 20, 28]
    assert NAMES[36:] == (
        *(f"liberties after move {n}" for n in ("1", "2", "3", "4", "5", "6", "7", "8+")),
        *("ladder capture", "ladder escape", "sensibleness", "zeros", "colour to play"),
    )


def test_stone_colour_is_from_the_movers_side() -> None:
    diagram = "X . . / . O . / . . O".replace("/", "\n")
    black, white = draw(diagram), draw(diagram, SECOND)
    assert black["own stone"] == white["opponent's stone"] == {"A3"}
    assert black["opponent's stone"] == white["own stone"] == {"B2", "C1"}
    assert black["empty"] == white["empty"] == {"B3", "C3", "A2", "C2", "A1", "B1"}


def test_ones_zeros_and_colour_to_play() -> None:
    game = GoGame(3)
    every = {game.move_name(flat) for flat in range(9)}
    black, white = Seen(game), after(3, "B2")
    assert black["ones"] == white["ones"] == every
    assert black["zeros"] == white["zeros"] == set()
    assert black["colour to play"] == every
    assert white["colour to play"] == set()


def test_turns_since() -> None:
    seen = after(5, "A1", "A2", "pass", "B5", "A3", "C5", "D5", "E5", "C3", "D3", "pass")
    found = {"A1": "8+", "A2": "8+", "B5": "8+", "A3": "7", "C5": "6", "D5": "5", "E5": "4", "C3": "3", "D3": "2"}
    assert seen.values("turns since") == found
    assert after(5, "A1").values("turns since") == {"A1": "1"}


def test_turns_since_of_a_point_that_was_taken_and_played_again() -> None:
    # White takes A1 from B1, and later fills it.
    seen = after(5, "A1", "A2", "E5", "B1")
    assert seen.values("turns since") == {"A2": "3", "E5": "2", "B1": "1"}
    seen = after(5, "A1", "A2", "E5", "B1", "E4", "A1")
    assert seen.values("turns since") == {"A2": "5", "E5": "4", "B1": "3", "E4": "2", "A1": "1"}


def test_set_up_stones_are_old() -> None:
    assert set(draw("X . . / . O . / . . O".replace("/", "\n")).values("turns since").values()) == {"8+"}


def test_liberties_are_counted_once_each() -> None:
    # White's three stones around B2 share it; Black's five at the bottom have the whole row above, and F1.
    seen = draw(
        """
        . . . . . .
        . . . . . .
        . O O O . .
        . O . O . .
        . . . . . .
        X X X X X .
        """
    )
    liberties = seen.values("liberties")
    assert {liberties[name] for name in ("B4", "C4", "D4", "B3", "D3")} == {"8+"}
    assert {liberties[f"{letter}1"] for letter in "ABCDE"} == {"6"}
    corner = draw("X X . / X . O / . O O".replace("/", "\n"))
    assert corner.values("liberties") == {"A3": "3", "B3": "3", "A2": "3", "C2": "3", "B1": "3", "C1": "3"}


def test_capture_size() -> None:
    # A2 takes one stone above it and two below. No plane says that other moves take none.
    seen = draw(
        """
        . . . . .
        X . . . .
        O X . . .
        . X X X .
        O O X X .
        """
    )
    assert seen.values("capture size") == {"A2": "3"}
    large = draw(
        """
        . . . . .
        . . . . .
        X X X X X
        O O O O X
        O O O O .
        """
    )
    assert large.values("capture size") == {"E1": "8+"}
    assert draw(FREE_WAY).values("capture size") == {}


def test_liberties_after_move() -> None:
    seen = draw(
        """
        . . . . .
        X . . . .
        O X . . .
        . X X X .
        O O X X .
        """
    )
    after_move = seen.values("liberties after move")
    # A2 frees A3, A1 and B1; B4 C3 D3 E2 E1 were free: eight.
    assert after_move["A2"] == "8+"
    # E1 joins seven stones, or six and itself: B4 C3 D3 E2 and A2 are left.
    assert after_move["E1"] == "5"
    assert (after_move["E5"], after_move["C5"], after_move["D4"]) == ("2", "3", "4")
    assert set(after_move) == seen["empty"]
    white = draw("X X . / X . X / . X .".replace("/", "\n"), SECOND)  # suicide everywhere
    assert white.values("liberties after move") == {}


def test_self_atari_size() -> None:
    seen = draw(
        """
        . O . . .
        . . . . .
        O O O . .
        X X . . .
        O O O . .
        """
    )
    # A5 leaves A4; C2 saves nothing: three stones with D2 alone.
    assert seen.values("self-atari size") == {"A5": "1", "C2": "3"}
    assert {name: seen.values("liberties after move")[name] for name in ("A5", "C2")} == {"A5": "1", "C2": "1"}


def test_ladders() -> None:
    assert draw(FREE_WAY)["ladder capture"] == {"D4"}
    assert draw(BROKEN)["ladder capture"] == set()
    chased = GoGame.from_diagram(BROKEN)
    chased.play(chased.parse_move("D4"))
    assert Seen(chased)["ladder escape"] == {"E3"}


def test_sensibleness_leaves_out_own_eyes_ko_and_suicide() -> None:
    seen = draw(
        """
        . X . X .
        X X X X .
        . . . . O
        X O . O .
        . X O . O
        """
    )
    assert not {"A5", "C5"} & seen["sensibleness"]  # own eyes
    assert "E2" not in seen["sensibleness"]  # suicide, in White's eye
    assert {"E5", "E4", "A3"} <= seen["sensibleness"]
    assert seen["sensibleness"] <= seen["empty"]
    for name in ("A5", "C5"):
        assert name in seen.values("liberties after move")  # legal all the same


def test_ko_is_not_legal() -> None:
    game = GoGame.from_diagram(". X O . / X . X O / . X O . / . . . .".replace("/", "\n"), SECOND)
    game.play(game.parse_move("B3"))
    seen = Seen(game)
    assert seen["empty"] >= {"C3"}
    assert "C3" not in seen["sensibleness"]
    assert "C3" not in seen.values("liberties after move")
    assert "C3" not in seen.values("capture size")


@settings(max_examples=60)
@given(
    seed=st.integers(0, 2**32 - 1),
    size=st.integers(2, 9),
    fill=st.floats(0.05, 2.0),
    tidy=st.sampled_from([0.0, 0.7]),
)
def test_all_planes_are_those_of_the_slow_encoder(seed: int, size: int, fill: float, tidy: float) -> None:
    game = with_passes(seed, size, int(fill * size * size), tidy)
    expected = plain_features.encode(game)
    for num_planes in PLANES:
        planes = encode(game, num_planes)
        for k in range(num_planes):
            assert (planes[k] == expected[k]).all(), f"{NAMES[k]}\n{game.render()}"


def with_passes(seed: int, size: int, moves: int, tidy: float) -> GoGame:
    """A random game, some of whose moves are passes."""
    game = replay_random(seed, size, moves // 2, tidy)
    dice = random.Random(seed)
    while not game.is_over and len(game.moves) < moves:
        game.play(PASS if dice.random() < 0.2 else dice.choice(game.legal_moves()))
    return game


@pytest.mark.parametrize("size", [13, 19])
def test_all_planes_on_large_boards(size: int) -> None:
    for seed in range(3):
        game = replay_random(seed, size, (seed + 1) * size * 5, 0.6)
        expected = plain_features.encode(game)
        for k, plane in enumerate(encode(game)):
            assert (plane == expected[k]).all(), f"{NAMES[k]}\n{game.render()}"


@settings(max_examples=25)
@given(seed=st.integers(0, 2**32 - 1), size=st.integers(2, 9), fill=st.floats(0.05, 1.5))
def test_the_turned_encoding_is_the_encoding_of_the_turned_game(seed: int, size: int, fill: float) -> None:
    game = replay_random(seed, size, int(fill * size * size), 0.5)
    planes = encode(game)
    for k in range(NUM_SYMMETRIES):
        turned = GoGame(size)
        for move in game.moves:
            board = np.zeros(size * size, bool)
            board[move] = True
            turned.play(int(np.flatnonzero(transform(board.reshape(size, size), k).ravel())[0]))
        expected = transform(planes, k)
        assert (encode(game, symmetry=k) == expected).all()
        assert (encode(turned) == expected).all()


def test_a_batch_of_boards_with_a_symmetry_each() -> None:
    games = [replay_random(seed, 5, 10 + seed, 0.5) for seed in range(4)]
    boards = new_boards(5, 5)
    for i, game in enumerate(games):
        from_game(boards, i, game)
    out = np.full((6, 48, 5, 5), 7, np.float32)
    legal = np.ones((6, 25), np.uint8)
    scratch = new_scratch(5)
    for _ in range(2):
        encode_boards(boards, 4, 48, np.array([3, 0, 5, 6, 9], np.uint8), out, legal, scratch)
        for i, (game, k) in enumerate(zip(games, (3, 0, 5, 6), strict=True)):
            assert (out[i] == encode(game, 48, k)).all()
            after_move = out[i, 36:44].sum(axis=0)
            assert (after_move.ravel() == legal[i]).all()
        assert (out[4:] == 7).all()
        assert (legal[4:] == 1).all()


def test_what_is_refused() -> None:
    boards, none = new_boards(2, 5), np.zeros(2, np.uint8)
    out = np.zeros((2, 4, 5, 5), np.float32)
    for count, num_planes, symmetries, message in (
        (3, 4, none, "count must be from 0 to 2, got 3"),
        (2, 13, none, "num_planes must be one of 4, 12, 48, 49, got 13"),
        (2, 4, np.array([0, 8], np.uint8), "symmetry must be from 0 to 7, got 8"),
        (2, 12, none, r"out must be float32\[2 or more, 12, 5, 5\], got float32\[2, 4, 5, 5\]"),
    ):
        with pytest.raises(ValueError, match=message):
            encode_boards(boards, count, num_planes, symmetries, out)
    with pytest.raises(ValueError, match="legal must be bool or uint8"):
        encode_boards(boards, 2, 4, none, out, np.zeros((2, 24), bool))
    with pytest.raises(ValueError, match="contiguous and writable"):
        encode_boards(boards, 1, 4, none, out.transpose(0, 1, 3, 2))
    with pytest.raises(ValueError, match="scratch is for boards of size 9, the boards are of size 5"):
        encode_boards(boards, 2, 4, none, out, scratch=new_scratch(9))
    with pytest.raises(ValueError, match="board size"):
        new_scratch(1)
    encode_boards(boards, 0, 4, none, out)
    assert not out.any()
