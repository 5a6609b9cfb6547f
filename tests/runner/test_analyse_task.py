"""Task `analyse`: positions, what players say of them, and what is refused."""

from __future__ import annotations

import json

import pytest

from miai.errors import MiaiError
from miai.games.game import PASS, RESIGN
from miai.games.start import start_game
from miai.players.player import Decision
from miai.runner import run_one
from miai.runner.compose import compose_one
from miai.runner.configured import job_of
from miai.runner.tasks.analyse import TASK, board_rows, opinion, position
from miai.tracking import Store
from miai.tracking.location import Location


def composed(*overrides: str) -> dict:
    return compose_one("analyse", list(overrides))


def test_the_position_is_what_the_moves_lead_to() -> None:
    #   A B C
    # 3 O . .     White took nothing; Black, to move, is at B2
    # 2 . X .
    game = position(composed("game.size=3", "moves=[B2,A3]"))
    assert board_rows(game) == [[-1, 0, 0], [0, 1, 0], [0, 0, 0]]
    assert game.to_play == 1
    small = position(composed("game=tictactoe", 'moves=["1,1"]'))
    assert board_rows(small) == [[0, 0, 0], [0, 1, 0], [0, 0, 0]]
    assert small.to_play == -1


def test_an_opinion_has_the_most_visited_move_first_and_whatever_the_player_says() -> None:
    game = start_game({"name": "go", "size": 3})
    info = {"visits": {0: 2, 4: 9, PASS: 1}, "values": {0: 0.25, 4: 0.75}, "value": 0.5, "pv": [4, PASS]}
    said = opinion(game, "P", Decision(4, info))
    assert said == {
        "player": "P",
        "plays": "B2",
        "value": 0.5,
        "simulations": None,
        "pv": ["B2", "pass"],
        "moves": [
            {"move": "B2", "cell": 4, "value": 0.75, "visits": 9.0},
            {"move": "A3", "cell": 0, "value": 0.25, "visits": 2.0},
            {"move": "pass", "cell": PASS, "visits": 1.0},
        ],
    }
    silent = opinion(game, "Q", Decision(RESIGN))
    assert (silent["plays"], silent["moves"], silent["value"]) == ("resign", [], None)


def test_an_analysis_is_kept_and_the_same_again(location: Location, store: Store, experiment: str) -> None:
    overrides = ("players=[uct@50,random]", "game=tictactoe", 'moves=["0,0","1,1","0,1","1,0"]')
    job = job_of({**composed(*overrides), "study": experiment})
    first, again = (run_one(job, location, workers=1) for _ in range(2))
    assert first.status == again.status == "finished"
    files = [store.artifact(outcome.run_id, TASK.product).read_text(encoding="utf-8") for outcome in (first, again)]
    assert files[0] == files[1]
    searched, other = json.loads(files[0])["players"]
    #  X X .     X to move wins at (0,2)
    #  O O .
    assert searched["plays"] == "0,2"
    assert searched["moves"][0]["move"] == "0,2"
    assert searched["simulations"] == 50
    assert other["moves"] == []
    assert store.run(first.run_id).metrics["final/analysis/uct_num_simulations_50/moves"] == 5


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        (["game.size=3", "moves=[B2,B2]"], r"moves\[1\]: "),
        (["game.size=3", "moves=[K9]"], r"moves\[0\]: "),
        (["game.size=3", "moves=[pass,pass]"], "the game is over"),
        (["players=[]"], "players: one at least"),
        (["players=[human]"], "a person cannot be asked"),
        (["players=[nobody]"], "nobody"),
    ],
)
def test_what_cannot_be_analysed_is_refused_before_anything_runs(overrides: list[str], words: str) -> None:
    with pytest.raises(MiaiError, match=words):
        TASK.check(composed(*overrides))
