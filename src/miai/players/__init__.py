"""Who plays. A kind of player is one file here, with a `KIND`, and one YAML in `conf/player/`."""

from miai.players.player import (
    OWN_BUDGET,
    Analyst,
    Budget,
    Decision,
    Player,
    PlayerKind,
    build_player,
    name_player,
    players,
)

__all__ = [
    "OWN_BUDGET",
    "Analyst",
    "Budget",
    "Decision",
    "Player",
    "PlayerKind",
    "build_player",
    "name_player",
    "players",
]
