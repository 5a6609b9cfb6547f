"""What every opponent has to hold, on every small game. A new file in `tabular/opponents/` is found by itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

import miai
from miai.errors import MiaiError
from miai.games.small import game_graph, games
from miai.tabular.opponents import Opponent, opponents
from miai.tabular.settings import TrainSettings
from tabular.configuration import config, trained

CONF = Path(miai.__file__).parents[2] / "conf"


def options_of(group: str, name: str, overrides: tuple[str, ...] = ()) -> dict:
    with initialize_config_dir(str(CONF), version_base="1.3"):
        composed = compose(overrides=[f"+{group}={name}", *overrides])
    return OmegaConf.to_container(composed, resolve=True)[group]


@pytest.fixture(scope="module", params=games.names())
def game(request) -> dict:
    return options_of("game", request.param)


@pytest.fixture(params=opponents.names())
def opponent(request) -> dict:
    name = request.param
    return options_of("opponent", name, ("opponent.run=some run",) if name == "table" else ())


def tables_for(built: Opponent, game: dict, folder: Path) -> dict[str, Path]:
    """A saved table for each role that the opponent asks for."""
    learning = trained(game=game, seat="both", num_games=500)
    learning.table().save(folder / "table.npz", learning.graph)
    return dict.fromkeys(built.tables(), folder / "table.npz")


def test_its_configuration_is_complete(opponent):
    assert opponents.build(opponent).tables().keys() <= {"table"}


def test_its_policy_is_one(opponent, game, tmp_path):
    built, graph = opponents.build(opponent), game_graph(game)
    if built.is_self:
        with pytest.raises(MiaiError):
            built.policy(graph, {})
        return
    tables = tables_for(built, game, tmp_path)
    policy = built.policy(graph, tables)
    assert (policy.shape, policy.dtype) == ((graph.num_edges,), np.float64)
    assert (policy >= 0).all()
    totals = np.bincount(graph.edge_state, policy, graph.num_states)
    assert totals[~graph.is_final] == pytest.approx(1, abs=1e-12)
    assert np.array_equal(policy, built.policy(graph, tables))


def test_one_can_learn_from_it_and_be_measured_against_it(opponent, game, tmp_path):
    built = opponents.build(opponent)
    tables = tables_for(built, game, tmp_path)
    roles = {f"{place}.{role}": path for place in ("opponent", "evaluation.opponent") for role, path in tables.items()}
    evaluation = {"name": "random"} if built.is_self else opponent
    changes = {"game": game, "opponent": opponent, "evaluation": {"opponent": evaluation}, "seat": "both"}
    assert TrainSettings.of(config(**changes)).tables().keys() == {
        role for role in roles if role.startswith("opponent.") or not built.is_self
    }
    learning = trained(roles, **changes, num_games=500)
    row = learning.measure()
    for seat in ("first", "second"):
        total = row[f"eval/{seat}/win"] + row[f"eval/{seat}/draw"] + row[f"eval/{seat}/loss"]
        assert total == pytest.approx(1, abs=1e-12)
        assert row[f"eval/{seat}/optimality_gap"] >= 0
        assert row[f"eval/{seat}/exploitability"] >= 0
    assert learning.table().meta.opponent["name"] == opponent["name"]
