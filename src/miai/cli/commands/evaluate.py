"""Measure a saved table against any opponent, exactly and by sampled games.

RUN is a run's id (or its beginning); its name, where only one has it; STUDY/NAME, the newest of that name in a study;
or the path of a table.npz.
"""

from __future__ import annotations

import json
from typing import Any

from miai.errors import choose

CONFIG = "evaluate"
EXAMPLES = (
    "miai evaluate RUN_ID opponent=minimax test.games=1000",
    "miai evaluate RUN_ID opponent=advanced opponent.p=1.0 format=json",
)


def run(arguments: list[str]) -> int:
    from miai.cli.arguments import table_path, text, whole_number, with_run
    from miai.runner.compose import compose_one
    from miai.runner.configured import location_of
    from miai.tabular.opponents import opponents
    from miai.tracking import Store

    config = compose_one(CONFIG, with_run(arguments))
    as_json = choose(str(config["format"]), ("table", "json"), "format") == "json"
    games = whole_number(config, "test.games", 0)
    seed = whole_number(config, "seed", 0)
    store = Store(location_of(config))
    opponent = opponents.build(config["opponent"])
    tables = {role: table_path(store, reference) for role, reference in opponent.tables().items()}
    rows = measure(table_path(store, text(config, "run")), opponent, tables, games, seed)
    if as_json:
        print(json.dumps(rows, indent=2))  # noqa: T201
    else:
        _show(rows, config["opponent"]["name"], games)
    return 0


def measure(path: Any, opponent: Any, tables: Any, games: int, seed: int) -> dict[str, dict[str, float]]:
    """Return, for each seat of the table, its exact values and the counts of sampled games."""
    from miai import rng
    from miai.games.small import game_graph
    from miai.tabular.measure import SeatMeasure
    from miai.tabular.policies import greedy_policy
    from miai.tabular.table import ValueTable
    from miai.tabular.training import SEAT_NAMES, SEATS

    table = ValueTable.load(path)
    graph = game_graph(table.meta.game)
    policy = opponent.policy(graph, tables)
    greedy = greedy_policy(graph, table.entry_kind, table.values, table.tie_breaking)
    rows = {}
    for player in SEATS[table.meta.seat]:
        seat = SeatMeasure(graph, player, policy)
        sample = seat.sample(greedy, games, rng.stream(seed, f"test {SEAT_NAMES[player]}"))
        rows[SEAT_NAMES[player]] = {**seat.policy(greedy), "best_value": seat.best_value, **sample._asdict()}
    return rows


def _show(rows: dict[str, dict[str, float]], opponent: str, games: int) -> None:
    from rich.table import Table

    from miai.cli.terminal import console

    seats = {"first": "X, first", "second": "O, second"}
    table = Table("", *(seats[seat] for seat in rows), title=f"against {opponent}", title_justify="left")
    for column in table.columns[1:]:
        column.justify = "right"
    exact = ("win", "draw", "loss", "value", "best_value", "optimality_gap", "exploitability")
    for name in exact:
        table.add_row(f"{name} (exact)", *(f"{row[name]:.6f}" for row in rows.values()))
    if games:
        table.add_section()
        for name in ("wins", "draws", "losses", "distinct_games"):
            table.add_row(f"{name} of {games:,} games", *(f"{row[name]:,}" for row in rows.values()))
    console().print(table)
