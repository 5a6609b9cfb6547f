"""Many games at once against `GoGame`, the slow and whole rules."""

from __future__ import annotations

import numpy as np
import pytest

from miai.alphago.game_batch import NO_MOVE, GameBatch, draw_moves, draw_uniform
from miai.alphago.self_play import game_streams
from miai.games.game import PASS
from miai.games.go import GoGame
from miai.games.go.board import BLACK, SHAPE, WHITE, flat_to_point, is_eye


def fills_own_eye(game: GoGame, move: int) -> bool:
    shape = game.state[0][int(SHAPE) + int(flat_to_point(move, game.size))]
    return bool(is_eye(np.uint64(shape), BLACK if game.to_play == 1 else WHITE))


def has_to_pass(game: GoGame, sensible: list[int], limit: int) -> bool:
    """The module's rule, from the history and the score of `GoGame`."""
    return (
        not sensible
        or len(game.moves) >= limit - 2
        or (bool(game.moves) and game.moves[-1] == PASS and game.score() * game.to_play > 0)
    )


@pytest.mark.parametrize(("size", "komi", "limit"), [(2, 0.5, None), (3, 2.5, 9), (4, 0.5, None), (5, 7.0, None)])
def test_random_games_are_those_of_the_whole_rules(size, komi, limit):
    """Every position of random games: legal points, own eyes, superko, passes, the end, the score."""
    count = 8
    batch = GameBatch(count, size, komi, limit)
    games = [GoGame(size, komi) for _ in range(count)]
    streams = game_streams(1, "play", count)
    repeats = 0
    while len(active := batch.active()):
        allowed = batch.allowed(active)
        legal = batch.allowed(active, eyes=True)
        passes = batch.has_to_pass(active, allowed)
        for row, game in enumerate(games[i] for i in active):
            points = [move for move in game.legal_moves() if move != PASS]
            assert np.flatnonzero(legal[row]).tolist() == points
            sensible = [move for move in points if not fills_own_eye(game, move)]
            assert np.flatnonzero(allowed[row]).tolist() == sensible
            assert passes[row] == has_to_pass(game, sensible, batch.limit)
            repeats += sum("superko" in (game._illegal(move) or "") for move in range(size * size))
        moves = np.where(passes, np.int16(PASS), draw_uniform(active, allowed, streams))
        for i, move in zip(active, moves.tolist(), strict=True):
            games[i].play(move)
        batch.play(active, moves)
        assert [game.is_over for game in games] == batch.over.astype(bool).tolist()
    assert repeats or size > 2, "on 2×2, repetitions come all the time"
    for i, game in enumerate(games):
        length = len(game.moves)
        assert batch.moves[i, :length].tolist() == list(game.moves)
        assert (batch.moves[i, length:] == NO_MOVE).all()
        assert batch.lengths()[i] == length
        assert batch.scores()[i] == game.score()


def test_a_move_is_needed_in_every_game_that_goes_on():
    batch = GameBatch(2, 3, 0.5)
    with pytest.raises(ValueError, match="in each game"):
        batch.play(np.array([0]), np.array([4], np.int16))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [((0, 5, 7.5), "count"), ((1, 1, 7.5), "size"), ((1, 5, 0.3), "komi"), ((1, 5, 7.5, 1), "limit")],
)
def test_what_is_no_batch_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        GameBatch(*arguments)


def test_moves_are_drawn_by_the_masked_softmax():
    """4 points with logits 0, ln 2, ln 5 and one that is forbidden: 1/3 and 2/3, whatever the forbidden logit is."""
    count = 60_000
    logits = np.tile(np.array([0.0, np.log(2.0), 99.0], np.float32), (count, 1))
    allowed = np.tile(np.array([1, 1, 0], np.uint8), (count, 1))
    games = np.arange(count)
    drawn = draw_moves(games, logits, allowed, 1.0, game_streams(0, "draw", count))
    assert set(drawn.tolist()) == {0, 1}
    assert (drawn == 1).mean() == pytest.approx(2 / 3, abs=0.01)
    # At temperature 1/2 the odds are squared: 1 to 4.
    drawn = draw_moves(games, logits, allowed, 0.5, game_streams(0, "draw", count))
    assert (drawn == 1).mean() == pytest.approx(4 / 5, abs=0.01)
    assert (draw_moves(games, logits, allowed, 0.0, game_streams(0, "draw", count)) == 1).all()


def test_uniform_draws_are_uniform_and_a_row_of_nothing_is_a_pass():
    count = 60_000
    allowed = np.tile(np.array([1, 0, 1, 1], np.uint8), (count, 1))
    drawn = draw_uniform(np.arange(count), allowed, game_streams(0, "draw", count))
    shares = np.bincount(drawn, minlength=4) / count
    assert shares == pytest.approx([1 / 3, 0, 1 / 3, 1 / 3], abs=0.01)
    assert draw_uniform(np.arange(1), np.zeros((1, 4), np.uint8), game_streams(0, "draw", 1)).tolist() == [PASS]


def test_a_game_draws_the_same_whatever_is_played_beside_it():
    logits = np.zeros((3, 9), np.float32)
    allowed = np.ones((3, 9), np.uint8)
    together = draw_moves(np.arange(3), logits, allowed, 1.0, game_streams(0, "draw", 3))
    streams = game_streams(0, "draw", 3)
    alone = [draw_moves(np.array([game]), logits[:1], allowed[:1], 1.0, streams)[0] for game in (2, 0, 1)]
    assert [alone[1], alone[2], alone[0]] == together.tolist()
