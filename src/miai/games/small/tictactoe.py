"""Tic-tac-toe: the 3,3,3-game under the name that everybody knows."""

from __future__ import annotations

from pydantic.dataclasses import dataclass

from miai.games.small.kind import SmallGame
from miai.games.small.mnk import MnkRules
from miai.kinds import STRICT


@dataclass(config=STRICT, kw_only=True)
class TicTacToe(SmallGame):
    """Three in a row on 3×3."""

    def rules(self) -> MnkRules:
        return MnkRules(3, 3, 3, name="tictactoe")


KIND = TicTacToe
