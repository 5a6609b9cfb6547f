"""GNU Go, with the switches that make it play by the rules that Miai scores by."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated

from pydantic import Field
from pydantic.dataclasses import dataclass

from miai.errors import MiaiError
from miai.kinds import STRICT
from miai.players.gtp import SEED, GtpPlayer
from miai.players.player import PlayerKind

DEBIAN_GAMES = "/usr/games"
"""Where Debian puts it, which is not on everybody's path."""
RULES = ("--chinese-rules", "--positional-superko", "--capture-all-dead")
"""Without the last two it passes with dead stones on the board, which count as alive under Tromp–Taylor, and plays
moves that superko forbids."""


def find_gnugo() -> str | None:
    """Return the program's path, or `None` if it is not installed."""
    return shutil.which("gnugo") or shutil.which("gnugo", path=DEBIAN_GAMES)


@dataclass(config=STRICT, kw_only=True)
class GnuGo(PlayerKind):
    """GNU Go 3.8."""

    level: Annotated[int, Field(ge=1, le=20)] = 10
    """Its own measure of effort; 10 is its default and the usual yardstick."""
    path: str | None = None
    """The program, if it is not where it is looked for: on the path, and in Debian's folder of games."""
    timeout: Annotated[float, Field(gt=0)] = 120.0
    """Seconds for an answer; beyond that the engine is at fault."""

    def build(self) -> GtpPlayer:
        program = find_gnugo() if self.path is None else shutil.which(str(Path(self.path).expanduser()))
        if program is None:
            where = f"at {self.path!r}" if self.path is not None else f"on the path or in {DEBIAN_GAMES}"
            raise MiaiError(
                f"player gnugo: no program gnugo {where}; install it (Debian, Ubuntu: apt install gnugo; "
                "macOS: brew install gnu-go) or name it by player.path."
            )
        command = (program, "--mode", "gtp", "--level", str(self.level), *RULES, "--seed", SEED)
        return GtpPlayer(command, self.timeout, self.timeout)


KIND = GnuGo
