"""Miai as a Go engine: the Go Text Protocol, version 2, on a pair of streams.

Start reading at `GtpEngine.run`. A command is a method `_do_<name>` that returns the text of its response or raises
`GtpError`; the analyses at the end stream theirs. Nothing but the protocol is written to the output, and no input ends
the session but `quit` and the end of the stream.
"""

from __future__ import annotations

import contextlib
import sys
import time
import traceback
from collections.abc import Callable
from functools import partial
from typing import BinaryIO

import numpy as np

from miai import __version__
from miai.errors import MiaiError
from miai.games.game import PASS, RESIGN
from miai.games.go import GoGame
from miai.gtp.analysis import AnalysisRequest, kata_line, lz_line, parse_request
from miai.gtp.board import DEFAULT_SIZE, GtpBoard
from miai.gtp.client import EngineFault
from miai.gtp.clock import Clock
from miai.gtp.lines import LineReader
from miai.gtp.protocol import (
    PROTOCOL_VERSION,
    Command,
    GtpError,
    colour,
    failure,
    parse_command,
    real,
    success,
    syntax_error,
    take,
    whole,
)
from miai.players import Analyst, Budget, Decision, Player

NAME = "Miai"
Line = Callable[[Decision, GtpBoard, "int | None"], str]
_LINES: dict[str, Line] = {"lz": lz_line, "kata": kata_line}


class GtpEngine:
    """One session with one player."""

    def __init__(
        self,
        player_factory: Callable[[], Player],
        rng: np.random.Generator,
        *,
        size: int = DEFAULT_SIZE,
        komi: float = 7.5,
        superko: str = "positional",
        suicide: bool = False,
    ) -> None:
        """Make the player and an empty board.

        Args:
            player_factory: makes the player, which is closed at the end of `run`.
            rng: the player's randomness.
            size, komi, superko, suicide: as in `GoGame`; the controller can change the first two.

        Raises:
            MiaiError, ValueError: what the factory or `GoGame` raise.
        """
        self._board = GtpBoard(size, komi, superko, suicide)
        self._clock = Clock()
        self._rng = rng
        self._player = player_factory()
        self._player.new_game(self._board.game.copy())
        self._lines: LineReader | None = None
        self._output: BinaryIO | None = None
        self._commands: dict[str, Callable[[tuple[str, ...]], str]] = {
            name.removeprefix("_do_"): getattr(self, name) for name in dir(self) if name.startswith("_do_")
        }
        self._streams: dict[str, Callable[[Command], None]] = {}
        if isinstance(self._player, Analyst):
            for style, line in _LINES.items():
                self._streams[f"{style}-analyze"] = partial(self._analyze, self._player, line)
                self._streams[f"{style}-genmove_analyze"] = partial(self._genmove_analyze, self._player, line)

    # --- The session ---

    def run(self, stdin: BinaryIO, stdout: BinaryIO) -> None:
        """Answer commands until `quit`, the end of the input, or an output that nobody reads any more."""
        self._lines = LineReader(stdin)
        self._output = stdout
        try:
            # Whatever a library prints must not get between the responses.
            with contextlib.redirect_stdout(sys.stderr):
                while (line := self._lines.next()) is not None:
                    command = parse_command(line)
                    if command is None:
                        continue
                    self._answer(command)
                    if command.name == "quit":
                        return
        except (BrokenPipeError, ConnectionResetError):
            return
        finally:
            self._player.close()

    def _answer(self, command: Command) -> None:
        """Write the response of a command; nothing that happens meanwhile ends the session."""
        handler = self._commands.get(command.name)
        stream = self._streams.get(command.name)
        try:
            if stream:
                stream(command)
            elif handler:
                self._write(success(command.id, handler(command.args)))
            else:
                self._write(failure(command.id, "unknown command"))
        except (GtpError, MiaiError) as error:
            self._write(failure(command.id, str(error)))
        except EngineFault as error:
            # An engine outside is the player. Told of a new game, it may have recovered by the next command.
            with contextlib.suppress(Exception):
                self._player.new_game(self._board.game.copy())
            self._write(failure(command.id, str(error)))
        except (BrokenPipeError, ConnectionResetError):
            raise
        except Exception as error:
            traceback.print_exc(file=sys.stderr)
            self._write(failure(command.id, f"internal error: {type(error).__name__}: {error}"))

    def _write(self, text: str) -> None:
        assert self._output is not None
        self._output.write(text.encode("utf-8", "replace"))
        self._output.flush()

    # --- Administration [GTP 4.3.1] ---

    def _do_protocol_version(self, args: tuple[str, ...]) -> str:
        return str(PROTOCOL_VERSION)

    def _do_name(self, args: tuple[str, ...]) -> str:
        return NAME

    def _do_version(self, args: tuple[str, ...]) -> str:
        return f"{__version__} ({self._player.name})"

    def _do_known_command(self, args: tuple[str, ...]) -> str:
        (name,) = take(args, 1, 1)
        return "true" if name in self._names() else "false"

    def _do_list_commands(self, args: tuple[str, ...]) -> str:
        return "\n".join(self._names())

    def _names(self) -> list[str]:
        return sorted([*self._commands, *self._streams])

    def _do_quit(self, args: tuple[str, ...]) -> str:
        return ""

    # --- Set-up [4.3.2] ---

    def _do_boardsize(self, args: tuple[str, ...]) -> str:
        (size,) = take(args, 1, 1)
        self._board.clear(whole(size))
        return self._new_game()

    def _do_clear_board(self, args: tuple[str, ...]) -> str:
        self._board.clear()
        self._clock.restart()
        return self._new_game()

    def _do_komi(self, args: tuple[str, ...]) -> str:
        (komi,) = take(args, 1, 1)
        self._board.set_komi(real(komi))
        return ""

    def _do_fixed_handicap(self, args: tuple[str, ...]) -> str:
        (stones,) = take(args, 1, 1)
        return self._new_game(self._board.fixed_handicap(whole(stones)))

    def _do_place_free_handicap(self, args: tuple[str, ...]) -> str:
        (stones,) = take(args, 1, 1)
        return self._new_game(self._board.free_handicap(whole(stones)))

    def _do_set_free_handicap(self, args: tuple[str, ...]) -> str:
        points = [self._board.vertex(text) for text in take(args, 1)]
        if PASS in points or len(points) < 2:
            raise GtpError("bad vertex list")
        self._board.set_handicap(points)
        return self._new_game()

    def _new_game(self, stones: tuple[int, ...] = ()) -> str:
        self._player.new_game(self._board.game.copy())
        return " ".join(self._board.name(point) for point in stones)

    # --- Play [4.3.3] ---

    def _do_play(self, args: tuple[str, ...]) -> str:
        side, vertex = take(args, 2, 2)
        self._board.play(colour(side), self._board.vertex(vertex))
        return ""

    def _do_genmove(self, args: tuple[str, ...]) -> str:
        (side,) = take(args, 1, 1)
        return self._play_decision(colour(side), self._player.select_move)

    def _do_reg_genmove(self, args: tuple[str, ...]) -> str:
        """Like genmove, but the move is not played, and the clock stands still."""
        (side,) = take(args, 1, 1)
        decision = self._player.select_move(self._board.with_turn(colour(side)), self._rng, self._player.own_budget)
        return self._move_text(decision)

    def _do_undo(self, args: tuple[str, ...]) -> str:
        self._board.undo()
        return ""

    def _play_decision(self, side: int, think: Callable[[GoGame, np.random.Generator, Budget], Decision]) -> str:
        game = self._board.with_turn(side)
        budget = self._budget(side)
        start = time.monotonic()
        decision = think(game, self._rng, budget)
        self._clock.spend(side, time.monotonic() - start)
        if decision.move != RESIGN:
            self._board.play(side, decision.move)
        return self._move_text(decision)

    def _move_text(self, decision: Decision) -> str:
        return "resign" if decision.move == RESIGN else self._board.name(decision.move)

    def _budget(self, side: int) -> Budget:
        """Return what the player thinks by itself, cut to what the clock allows."""
        own = self._player.own_budget
        seconds = self._clock.seconds_for_move(side, self._board.num_moves, self._board.size**2)
        if seconds is None:
            return own
        return Budget(own.simulations, min(seconds, own.seconds) if own.seconds else seconds)

    # --- Tournaments [4.3.4] ---

    def _do_time_settings(self, args: tuple[str, ...]) -> str:
        main_time, overtime, stones = (whole(word) for word in take(args, 3, 3))
        self._clock.set(main_time, overtime, stones)
        return ""

    def _do_time_left(self, args: tuple[str, ...]) -> str:
        side, seconds, stones = take(args, 3, 3)
        self._clock.left(colour(side), whole(seconds), whole(stones))
        return ""

    def _do_final_score(self, args: tuple[str, ...]) -> str:
        return self._board.score_text()

    def _do_final_status_list(self, args: tuple[str, ...]) -> str:
        """Under Tromp and Taylor's rules every stone on the board is alive; a game is played on until that is true."""
        (status,) = take(args, 1, 1)
        if status not in ("alive", "dead", "seki"):
            raise syntax_error(f"{status!r} is not a status, which is alive, dead or seki")
        if status != "alive":
            return ""
        return "\n".join(" ".join(map(self._board.name, chain)) for chain in self._board.chains())

    # --- Files and looking [4.3.5, 4.3.6] ---

    def _do_loadsgf(self, args: tuple[str, ...]) -> str:
        """Load `filename [move_number]`; the file's name may hold blanks."""
        words = take(args, 1)
        number = None
        if len(words) > 1 and words[-1].isdigit():
            number, words = whole(words[-1]), words[:-1]
        self._board.load(" ".join(words), number)
        return self._new_game()

    def _do_showboard(self, args: tuple[str, ...]) -> str:
        return "\n" + self._board.game.render()

    # --- Analysis: responses that grow while the player thinks ---

    def _analyze(self, player: Analyst, line: Line, command: Command) -> None:
        """Report until anything arrives on the input, be it an empty line. Nothing is played."""
        assert self._lines is not None
        lines = self._lines
        request = parse_request(command.args, self._board.game.to_play)
        reports = _Reports(self, command, request, line)

        def on_progress(decision: Decision) -> bool:
            reports.show(decision)
            return not lines.waiting()

        reports.begin()
        reports.show(player.analyse(self._board.with_turn(request.colour), self._rng, None, on_progress), last=True)
        lines.wait()
        self._write("\n")

    def _genmove_analyze(self, player: Analyst, line: Line, command: Command) -> None:
        """Report while thinking about a move, then play it."""
        request = parse_request(command.args, self._board.game.to_play)
        reports = _Reports(self, command, request, line)

        def think(game: GoGame, rng: np.random.Generator, budget: Budget) -> Decision:
            def on_progress(so_far: Decision) -> bool:
                reports.show(so_far)
                return True

            decision = player.analyse(game, rng, budget, on_progress)
            reports.show(decision, last=True)
            return decision

        move = self._play_decision(request.colour, think)
        reports.begin()
        self._write(f"play {move}\n\n")


class _Reports:
    """The lines of one analysis, written no more often than was asked for."""

    def __init__(self, engine: GtpEngine, command: Command, request: AnalysisRequest, line: Line) -> None:
        self._engine = engine
        self._id = command.id or ""
        self._request = request
        self._line = line
        self._begun = False
        self._next = time.monotonic() + request.interval / 100

    def begin(self) -> None:
        """Write the response's first line, once."""
        if not self._begun:
            self._begun = True
            self._engine._write(f"={self._id}\n")

    def show(self, decision: Decision, *, last: bool = False) -> None:
        """Write a report if it is time for one, or the last."""
        now = time.monotonic()
        text = self._line(decision, self._engine._board, self._request.max_moves) if last or now >= self._next else ""
        if text:  # an empty line would end the response
            self.begin()
            self._engine._write(f"{text}\n")
            self._next = now + self._request.interval / 100
