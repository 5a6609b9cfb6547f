"""Playouts: whom they let move where, how they end, and that the peer in C plays the same games."""

from __future__ import annotations

import shutil
import subprocess
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from miai.games.go import GoGame
from miai.games.go.board import BLACK, BOTH, PASS_POINT, WHITE, new_board, point_to_flat
from miai.rng import stream
from miai.search.patterns import pattern_table
from miai.search.playouts import (
    MOVES_PER_POINT,
    PATTERN,
    UNIFORM,
    pattern_playout,
    run_playouts,
    uniform_move,
    uniform_playout,
)

C_PEER = Path(__file__).parents[2] / "benchmarks" / "go" / "playouts.c"


def boards(game: GoGame) -> tuple[np.ndarray, np.ndarray, np.uint64]:
    cells, liberties = game.state
    return cells.copy(), liberties.copy(), BLACK if game.to_play == 1 else WHITE


def names(game: GoGame, points: Counter) -> set[str]:
    return {game.move_name(point_to_flat(point, game.size)) for point in points}


def test_a_uniform_move_is_uniform_over_the_sensible_moves() -> None:
    """Black may not fill its eyes at A5 and C5; at E5 it joins a chain with liberties, and it is no eye."""
    game = GoGame.from_diagram(
        """
        . X . X .
        X X X X O
        . . . O O
        O O O O O
        . O . O .
        """
    )
    cells, liberties, colour = boards(game)
    rng = stream(1, "test")
    drawn: Counter = Counter(uniform_move(cells, liberties, colour, rng) for _ in range(9000))
    assert names(game, drawn) == {"A3", "B3", "C3", "E5"}
    expected = 9000 / len(drawn)
    assert sum((count - expected) ** 2 / expected for count in drawn.values()) < 16.3  # χ², 3 d.f., p = 0.001


def test_without_a_sensible_move_it_is_a_pass() -> None:
    game = GoGame.from_diagram(". X .\nX X X\n. X .")
    cells, liberties, colour = boards(game)
    rng = stream(1, "test")
    assert {uniform_move(cells, liberties, colour, rng) for _ in range(50)} == {PASS_POINT}
    # White has no legal move either.
    assert {uniform_move(cells, liberties, BOTH - colour, rng) for _ in range(50)} == {PASS_POINT}


@pytest.mark.parametrize("policy", [UNIFORM, PATTERN])
@pytest.mark.parametrize("size", [2, 3, 5, 9])
def test_a_playout_is_a_game_by_the_rules(size: int, policy: int) -> None:
    """Every move is legal (but for superko, which playouts do without), and the game ends by passes or at the limit."""
    for seed in range(30):
        cells, liberties = new_board(size)
        trace = np.zeros(MOVES_PER_POINT * size * size, np.uint16)
        rng = stream(seed, "test")
        if policy == UNIFORM:
            length = uniform_playout(cells, liberties, BLACK, rng, trace, 0)
        else:
            length = pattern_playout(cells, liberties, BLACK, rng, trace, 0, pattern_table())
        game = GoGame(size, superko="none")
        for point in trace[:length]:
            game.play(point_to_flat(point, size))
        assert game.is_over or length == MOVES_PER_POINT * size * size
        frame = cells[:441].reshape(21, 21)[1 : size + 1, 1 : size + 1]
        assert (frame == np.array([0, 1, 2])[game.board]).all()


def test_a_playout_that_would_not_end_is_stopped() -> None:
    """On 2 × 2 stones are taken for ever."""
    cells, liberties = new_board(2)
    trace = np.zeros(12, np.uint16)
    lengths = set()
    for seed in range(200):
        start_cells, start_liberties = cells.copy(), liberties.copy()
        lengths.add(uniform_playout(start_cells, start_liberties, BLACK, stream(seed, "test"), trace, 0))
    assert max(lengths) == 12


def test_run_playouts_counts_what_it_plays() -> None:
    cells, liberties = new_board(9)
    moves, total = run_playouts(cells, liberties, BLACK, stream(1, "test"), 2000, UNIFORM, pattern_table())
    # Known of uniform playouts on 9 × 9: about 111 moves, and Black, who begins, is some two points ahead.
    assert 105 < moves / 2000 < 117
    assert 0 < total / 2000 < 5


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler, cc")
def test_the_peer_in_c_plays_the_same_games(tmp_path: Path) -> None:
    subprocess.run(["cc", "-O1", "-o", str(tmp_path / "playouts"), str(C_PEER)], check=True)
    for size in (2, 9, 19):
        cells, liberties = new_board(size)
        rng = stream(7, "test")
        words = [str(word) for word in rng.tolist()]
        ours = run_playouts(cells, liberties, BLACK, rng, 200, UNIFORM, pattern_table())
        command = [str(tmp_path / "playouts"), str(size), "200", *words]
        theirs = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
        assert [int(word) for word in theirs[1:]] == list(ours)
