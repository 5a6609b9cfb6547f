"""One position a game: where it lies, who played what, when it is drawn again, and its file."""

from __future__ import annotations

import numpy as np
import pytest

from miai.alphago.self_play import Policy
from miai.alphago.value_data import DrawnGames, Unit, ValueData, fitting_last, make_unit, play_positions
from miai.errors import MiaiError
from miai.games.go import GoGame
from miai.networks.evaluator import Inference
from miai.tensor_file import load_tensors, save_tensors

from .networks import likes, tiny_file, uniform


def drawn(count: int = 200, size: int = 5, first: int = 1, last: int = 12, **options: object) -> DrawnGames:
    policies = options.get("policies", (uniform(size), uniform(size)))
    return play_positions(policies, count, size, 0.5, first, last, 0, "test")  # type: ignore[arg-type]


def test_the_range_is_the_papers_in_proportion():
    assert (fitting_last(19), fitting_last(9), fitting_last(2)) == (450, 101, 5)


def test_u_is_uniform_over_its_range_where_no_game_is_short():
    """3,000 draws from 1 to 6: 500 each, with a deviation of 20."""
    found = drawn(3_000, 5, 1, 6)
    assert found.redrawn == 0
    counts = np.bincount(found.plies, minlength=7)
    assert counts[0] == 0
    assert counts[1:] == pytest.approx(np.full(6, 500), abs=100)


def test_games_are_legal_and_their_results_are_those_of_the_rules():
    found = drawn(60)
    for moves, ply, winner in zip(found.moves, found.plies, found.winners, strict=True):
        game = GoGame(5, 0.5)
        for number, move in enumerate(moves):
            assert not (number == ply and game.is_over), "the position is none that ends the game"
            game.play(move)
        assert game.is_over
        assert game.outcome() == winner
        assert 1 <= ply < len(moves)
        assert moves[ply - 1] >= 0, "move U is a point"


def test_sl_plays_before_u_rl_after_it_and_u_is_anything():
    """SL likes the first points, RL the last ones, each so much that a free point is never passed over."""
    points = np.arange(25.0)
    found = drawn(300, 5, 4, 6, policies=(likes(-points, 0.0), likes(points, 0.0)))
    second_to_last = set()
    for moves, ply in zip(found.moves, found.plies, strict=True):
        assert moves[: ply - 1] == list(range(ply - 1))
        second_to_last.add(moves[ply - 1])
        expected = max(point for point in range(25) if point not in moves[:ply])
        assert moves[ply] == expected
    assert second_to_last == set(range(3, 25)), "all free points were drawn"


def test_games_that_are_over_before_u_are_drawn_again():
    """On 2×2 games are short: with U up to 8 many have to be drawn again, and no position is missing for it."""
    found = drawn(100, 2, 1, 8)
    assert len(found.moves) == len(found.plies) == len(found.winners) == 100
    assert found.redrawn > 20
    assert all(ply < len(moves) for moves, ply in zip(found.moves, found.plies, strict=True))


def test_a_range_that_no_game_reaches_is_refused():
    """SL fills 3×3 but for its eyes within some moves, and passes: nothing is left to be drawn at move 24."""
    with pytest.raises(MiaiError, match="games are over before move U, of 24 to 24, every time"):
        drawn(2, 3, 24, 24, policies=(likes([9, 8, 7, 6, 5, 4, 3, 2, 1], 0.0), uniform(3)))
    with pytest.raises(ValueError, match="U: a range within 1 to 24 needed, got 3 to 2"):
        drawn(2, 3, 3, 2)


def unit(path: object, count: int = 6, number: int = 0) -> Unit:
    return Unit(str(path), str(path), Inference(precision="auto"), 1.0, count, 3, 0.5, 1, 6, 0, number)


@pytest.fixture(scope="module")
def units(tmp_path_factory) -> list[dict]:
    pytest.importorskip("torch")
    path = tiny_file(tmp_path_factory.mktemp("networks"), size=3)
    return [make_unit(unit(path, 6, 0)), make_unit(unit(path, 4, 1)), make_unit(unit(path, 6, 0))]


def test_a_unit_is_a_function_of_its_number(units):
    assert units[0] == units[2]
    assert units[0]["moves"] != units[1]["moves"]


def test_units_become_a_file_that_is_a_set_of_games(units, tmp_path):
    data = ValueData.of_units(units[:2], 3, 0.5, seed=0, valid=0.3, test=0.3)
    assert len(data) == 10
    path = tmp_path / "positions.safetensors"
    data.save(path, {"task": "test"})
    loaded = ValueData.load(path)
    for name in ("start", "moves", "ply", "winner", "split"):
        assert np.array_equal(getattr(loaded, name), getattr(data, name))
    assert (loaded.board_size, loaded.komi) == (3, 0.5)
    games = loaded.game_set()
    for number in range(10):
        record = games.to_record(number)
        game = GoGame(3, 0.5)
        for _, move in record.moves:
            game.play(move)
        assert game.outcome() == record.result.winner
        z = game.outcome() * (1 if loaded.ply[number] % 2 == 0 else -1)
        assert loaded.mover_results()[number] == z


def test_the_splits_are_shares(units):
    many = ValueData.of_units([units[0]] * 500, 3, 0.5, seed=0, valid=0.2, test=0.1)
    shares = np.bincount(many.split, minlength=3) / len(many)
    assert shares == pytest.approx([0.7, 0.2, 0.1], abs=0.03)


@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        ("moves", np.full(1, 9, np.int16), "a move is off the board"),
        ("ply", np.full(1, 10_000, np.int32), "a position is not within its game"),
        ("winner", np.full(1, 2, np.int8), "a winner or a split is not one"),
        ("start", np.full(1, 7, np.int64), "start does not divide moves"),
    ],
)
def test_a_damaged_file_is_refused(units, tmp_path, name, values, message):
    path = tmp_path / "positions.safetensors"
    ValueData.of_units(units[:1], 3, 0.5, 0, 0.1, 0.1).save(path, {})
    arrays, meta = load_tensors(path, "positions", 1)
    changed = arrays[name].copy()
    changed[:1] = values
    save_tensors(path, "positions", 1, {**arrays, name: changed}, meta)
    with pytest.raises(MiaiError, match=message):
        ValueData.load(path)


def test_policies_see_no_more_than_they_ask_for():
    """Planes come in the number that a policy says, in every phase of a game."""
    seen = set()

    def note(planes: np.ndarray) -> np.ndarray:
        seen.add(planes.shape[1:])
        return np.zeros((len(planes), 9), np.float32)

    drawn(4, 3, 1, 4, policies=(Policy(note, 12), Policy(note, 48)))
    assert seen == {(12, 3, 3), (48, 3, 3)}
