"""Games and matches between players.

A match is a list of numbered games, and each game is determined by the match and its number alone: who sits where, the
opening, every random stream. So games may be played in any order, on any machine, again after a crash, and the results
are the same (players with a budget in seconds and engines outside excepted).

Start reading at `game.play_game`; `match` makes many of it, `summary` counts them, `tournament`
chooses who meets whom.
"""

from miai.arena.game import End, Fault, PlayedGame, play_game
from miai.arena.match import GameUnit, Match, build_players, game_units, play_match, play_numbered, play_unit
from miai.arena.summary import MatchSummary, Tally, wilson_interval
from miai.arena.tournament import Tournament, rate

__all__ = [
    "End",
    "Fault",
    "GameUnit",
    "Match",
    "MatchSummary",
    "PlayedGame",
    "Tally",
    "Tournament",
    "build_players",
    "game_units",
    "play_game",
    "play_match",
    "play_numbered",
    "play_unit",
    "rate",
    "wilson_interval",
]
