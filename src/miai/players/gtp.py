"""Any Go engine that speaks GTP, as a player: a subprocess that loses the game when it is at fault."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Annotated, cast

import numpy as np
from pydantic import Field, field_validator
from pydantic.dataclasses import dataclass

from miai.errors import MiaiError
from miai.games.game import FIRST, RESIGN, SECOND, Game
from miai.games.start import GO
from miai.gtp.client import EngineFault, FaultKind, GtpClient, check_may_start
from miai.kinds import STRICT
from miai.players.player import OWN_BUDGET, Budget, Decision, PlayerKind

if TYPE_CHECKING:
    from miai.games.go import GoGame

SEED = "{seed}"
"""Stands in a command for a seed of the game; an engine that has it is started anew for each game."""
MAX_SEED = 2**31 - 1


class GtpPlayer:
    """Plays what an engine says.

    The engine keeps the board as well; before each move it is told what has been played since it was last asked. It
    is started when it is first asked for a move of a game, and lives through many games unless its command has a seed.
    """

    own_budget = OWN_BUDGET

    def __init__(self, command: tuple[str, ...], timeout: float, start_timeout: float) -> None:
        """Args:
        command: program and arguments; `{seed}` in an argument becomes a seed of the game.
        timeout, start_timeout: seconds, as in `GtpClient`.

        Raises:
            MiaiError: engines may not be started here (`no_engines`). Said now, not at the first move.
        """
        check_may_start(command)
        self.name = "gtp"
        self._command = command
        self._timeout = timeout
        self._start_timeout = start_timeout
        self._client: GtpClient | None = None
        self._told: list[int] | None = None
        """Moves that the engine has made on its board, `None` when it must be set up anew."""
        self._seconds: float | None = None

    @property
    def transcript(self) -> str:
        """What was said in this game so far."""
        return self._client.transcript if self._client else ""

    def new_game(self, game: Game) -> None:
        if game.name != GO:
            raise MiaiError(f"player {self.name}: GTP engines play Go, not {game.name}.")
        self._told = None
        self._seconds = None
        if self._client and (not self._client.is_alive or self._is_seeded):
            self.close()
        if self._client:
            self._client.forget()

    @property
    def _is_seeded(self) -> bool:
        return any(SEED in word for word in self._command)

    def select_move(self, game: Game, rng: np.random.Generator, budget: Budget = OWN_BUDGET) -> Decision:
        """Ask the engine.

        A budget in seconds is told by `time_settings`, in whole seconds; a budget in simulations has no words in GTP
        and does not bind engines: their strength is set in their command.

        Raises:
            EngineFault: whatever went wrong, with the transcript of the game.
        """
        go = cast("GoGame", game)
        if self._client is None:
            seed = str(int(rng.integers(1, MAX_SEED)))
            command = tuple(word.replace(SEED, seed) for word in self._command)
            self._client = GtpClient(command, timeout=self._timeout, start_timeout=self._start_timeout)
        client = self._client
        self._tell_position(client, go)
        self._tell_time(client, budget.seconds)
        timeout = None if budget.seconds is None else self._timeout + budget.seconds
        answer = client.send(f"genmove {_letter(go.to_play)}", timeout=timeout)
        if answer.lower() == "resign":
            return Decision(RESIGN)
        try:
            move = go.parse_move(answer)
        except ValueError:
            raise self._illegal(go, f"{answer[:80]!r}, which is no move") from None
        try:
            go.copy().play(move)
        except ValueError as error:
            raise self._illegal(go, str(error)) from None
        assert self._told is not None
        self._told.append(move)
        return Decision(move)

    def _illegal(self, game: GoGame, what: str) -> EngineFault:
        self._told = None
        return EngineFault(
            FaultKind.ILLEGAL, f"at move {len(game.moves) + 1} the engine answered {what}", self.transcript
        )

    def _tell_position(self, client: GtpClient, game: GoGame) -> None:
        history = list(game.history)
        moves = [move for _, move in history]
        if self._told is None or moves[: len(self._told)] != self._told:
            self._tell_start(client, game)
            self._told = []
        for colour, move in history[len(self._told) :]:
            client.send(f"play {_letter(colour)} {game.move_name(move)}")
            self._told.append(move)

    def _tell_start(self, client: GtpClient, game: GoGame) -> None:
        """Tell size, komi and the stones that stand before the first move."""
        client.send(f"boardsize {game.size}")
        client.send("clear_board")
        client.send(f"komi {game.komi:g}")
        start = game.copy()
        while start.moves:
            start.undo()
        stones = [(colour, int(point)) for colour in (FIRST, SECOND) for point in np.flatnonzero(start.board == colour)]
        if game.handicap:
            client.send("set_free_handicap " + " ".join(game.move_name(point) for _, point in stones))
        else:
            for colour, point in stones:
                client.send(f"play {_letter(colour)} {game.move_name(point)}")

    def _tell_time(self, client: GtpClient, seconds: float | None) -> None:
        """Say how long a move may take: so many seconds for each single one, at least one."""
        if seconds is None or seconds == self._seconds:
            return
        self._seconds = seconds
        try:
            client.send(f"time_settings 0 {max(1, round(seconds))} 1")
        except EngineFault as fault:
            if fault.kind is not FaultKind.REFUSED:
                raise  # an engine may lack the command, but not die of it

    def close(self) -> None:
        if self._client:
            self._client.close()
        self._client = None


def _letter(colour: int) -> str:
    return "b" if colour == FIRST else "w"


@dataclass(config=STRICT, kw_only=True)
class Gtp(PlayerKind):
    """A Go engine of your own."""

    command: str
    """The command line, split as a shell would, but run without one; `{seed}` becomes a seed of each game."""
    timeout: Annotated[float, Field(gt=0)] = 60.0
    """Seconds for an answer; beyond that the engine is at fault."""
    start_timeout: Annotated[float, Field(gt=0)] = 120.0
    """Seconds for the first answer after the start."""

    @field_validator("command", mode="before")
    @classmethod
    def _is_given(cls, command: object) -> object:
        if command is None:
            raise ValueError("a command line is needed, such as 'my-engine --gtp'")
        return command

    @field_validator("command")
    @classmethod
    def _splits(cls, command: str) -> str:
        if not shlex.split(command):  # raises ValueError itself if a quotation mark is not closed
            raise ValueError("a program is needed")
        return command

    def build(self) -> GtpPlayer:
        return GtpPlayer(tuple(shlex.split(self.command)), self.timeout, self.start_timeout)


KIND = Gtp
