"""A person at the terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection

import numpy as np
from pydantic.dataclasses import dataclass

from miai.games.game import RESIGN, Game, RulesGame
from miai.kinds import STRICT
from miai.players.player import OWN_BUDGET, Budget, Decision, PlayerKind

QUIT = "quit"
HELP = ("help", "?", "")
_LEAVE = ("quit", "q", "exit")

Say = Callable[[str], object]
"""Shows a line, or a board."""
Ask = Callable[[str], str | None]
"""Shows a prompt and reads a line; `None` at the end of the input."""


def ask_for_move(game: Game, prompt: str, ask: Ask, say: Say, words: Collection[str], help_text: str) -> int | str:
    """Ask until the person names a legal move, one of `words`, or leaves.

    Returns:
        the move, the word, or `QUIT`.
    """
    while True:
        answer = ask(prompt)
        if answer is None or answer.lower() in _LEAVE:
            return QUIT
        word = answer.lower()
        if word in words:
            return word
        if word in HELP:
            say(f"Type {help_text}.")
            continue
        try:
            move = game.parse_move(answer)
            if game.is_legal(move):
                return move
            say(f"{_why(game, move)}.")
        except ValueError as error:
            say(f"{error}.")


def _why(game: Game, move: int) -> str:
    """Say why a move is illegal, as the game itself does."""
    if isinstance(game, RulesGame):
        free = ", ".join(game.move_name(other) for other in game.legal_moves())
        return f"{game.move_name(move)} is taken; free: {free}"
    try:
        game.copy().play(move)
    except ValueError as error:
        return str(error)
    raise AssertionError("the move is legal after all")


def show_on_terminal(text: str) -> None:
    print(text, flush=True)  # noqa: T201


def ask_on_terminal(prompt: str) -> str | None:
    """Read a line from standard input; `None` at its end."""
    sys.stdout.write(prompt)
    sys.stdout.flush()
    line = sys.stdin.readline()
    return line.strip() if line else None


class HumanPlayer:
    """Shows the board and asks."""

    own_budget = OWN_BUDGET

    def __init__(self, ask: Ask = ask_on_terminal, say: Say = show_on_terminal) -> None:
        self.name = "human"
        self._ask, self._say = ask, say

    def new_game(self, game: Game) -> None:
        self._say(f"A new game of {game.name}.")

    def select_move(self, game: Game, rng: np.random.Generator, budget: Budget = OWN_BUDGET) -> Decision:
        """Ask for a move.

        Raises:
            KeyboardInterrupt: the person has left, as by Ctrl-C.
        """
        names = ("Black", "White") if game.name == "go" else ("X", "O")
        side = names[0 if game.to_play > 0 else 1]
        if game.moves:
            self._say(f"{names[0 if game.to_play < 0 else 1]} played {game.move_name(game.moves[-1])}.")
        self._say(game.render())
        example = "a move such as D4, pass" if game.name == "go" else "a move as row,column"
        answer = ask_for_move(
            game, f"{side}> ", self._ask, self._say, ("resign",), f"{example}, or: resign, help, quit"
        )
        if answer == QUIT:
            raise KeyboardInterrupt
        return Decision(RESIGN if isinstance(answer, str) else answer)

    def close(self) -> None:
        """Nothing is held."""


@dataclass(config=STRICT, kw_only=True)
class Human(PlayerKind):
    """A person at the terminal."""

    def build(self) -> HumanPlayer:
        return HumanPlayer()


KIND = Human
