"""Games small enough to be enumerated. A game is one file here, with a `KIND`, and one YAML in `conf/game/`."""

from miai.games.small.kind import SmallGame, game_graph, games

__all__ = ["SmallGame", "game_graph", "games"]
