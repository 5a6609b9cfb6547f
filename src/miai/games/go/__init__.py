"""Go: a compiled board (`board`), the game on top of it (`game`), coordinates, scoring, symmetries."""

from miai.games.go.game import SUPERKO, GoGame

__all__ = ["SUPERKO", "GoGame"]
