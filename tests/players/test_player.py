"""What holds for every kind of player, and how players are made from options."""

import numpy as np
import pytest

from miai.errors import MiaiError
from miai.games.game import PASS
from miai.games.start import start_game
from miai.players import Budget, Decision, Player, build_player, players


def test_kinds_are_found():
    assert {"random", "gtp", "gnugo"} <= set(players.names())


def test_a_player_is_named_after_what_differs_from_the_defaults():
    assert build_player({"name": "random"}).name == "random"
    assert build_player({"name": "random", "label": "dice"}).name == "dice"
    assert build_player({"name": "gtp", "command": "engine -x 1", "timeout": 5.0}).name == (
        "gtp command=engine -x 1 timeout=5.0"
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, r"player.name: a value is needed"),
        ({"name": "randm"}, r"no such choice 'randm'.*Did you mean 'random'"),
        ({"name": "random", "level": 3}, r"player.level: there is no such option"),
        ({"name": "gtp"}, r"player.command: a value is needed"),
        ({"name": "gtp", "command": " "}, r"a program is needed"),
        ({"name": "gtp", "command": "engine 'x"}, r"player.command: No closing quotation"),
        ({"name": "gtp", "command": "x", "timeout": 0.0}, r"player.timeout: .*greater than 0, not 0.0"),
        ({"name": "gnugo", "level": 0}, r"player.level: .*greater than or equal to 1, not 0"),
    ],
)
def test_options_are_checked(options, message):
    with pytest.raises(MiaiError, match=message) as caught:
        build_player(options)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("options", [{"simulations": 0}, {"seconds": 0.0}, {"seconds": float("inf")}])
def test_budgets_are_checked(options):
    with pytest.raises(ValueError, match="must be"):
        Budget(**options)


def test_random_plays_every_legal_move_alike():
    player = build_player({"name": "random"})
    assert isinstance(player, Player)
    game = start_game({"name": "tictactoe"})
    for cell in (4, 0, 8):
        game.play(cell)
    rng = np.random.default_rng(1)
    counts = np.bincount([player.select_move(game, rng).move for _ in range(6_000)], minlength=9)
    assert set(np.flatnonzero(counts)) == {1, 2, 3, 5, 6, 7}
    assert counts[counts > 0].min() > 850, "1,000 are expected, with a deviation of 29"


def test_random_passes_only_when_there_is_nothing_else():
    # Black has two eyes and the rest; White has no point to play.
    from miai.games.go import GoGame

    game = GoGame.from_diagram(
        """
        X.X
        XXX
        X.X
        """,
        to_play=-1,
    )
    player = build_player({"name": "random"})
    assert player.select_move(game, np.random.default_rng(0)) == Decision(PASS)
