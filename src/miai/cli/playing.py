"""A game in the terminal between a person and a table."""

from __future__ import annotations

import numpy as np

from miai import rng
from miai.games.game import FIRST, SECOND, RulesGame
from miai.games.small import game_graph
from miai.players.human import QUIT, Ask, Say, ask_for_move
from miai.tabular.policies import greedy_policy, minimax_values
from miai.tabular.table import ValueTable
from miai.tabular.targets import AFTERSTATE

MARKS = {FIRST: "X", SECOND: "O"}
WORDS = ("undo", "hint", "values")
HELP = "a move as row,column (1,2 is the second row, third column), or: undo, hint, values, help, quit"


class TerminalGame:
    """Plays games until the person has had enough.

    Args:
        table: plays greedily, with its own tie-breaking.
        human: the person's seat, `first` or `second`.
        seed: for ties that the table breaks at random.
        say: prints a line or a board.
        ask: prints a prompt and reads a line; `None` at the end of the input.
    """

    def __init__(self, table: ValueTable, human: str, seed: int, say: Say, ask: Ask) -> None:
        self.table = table
        self.human = FIRST if human == "first" else SECOND
        self.graph = game_graph(table.meta.game)
        self.policy = greedy_policy(self.graph, table.entry_kind, table.values, table.tie_breaking)
        self.best = minimax_values(self.graph)
        self.game: RulesGame = RulesGame(self.graph.rules)
        self._say, self._ask = say, ask
        self._generator = rng.generator(seed, "play")

    def play(self) -> int:
        """Play until the person quits. Returns the exit code, 0."""
        self._say(
            f"You are {MARKS[self.human]}; {self.table.meta.algorithm['name']} is {MARKS[-self.human]}. Type {HELP}."
        )
        while True:
            self._say(self.game.render())
            if self.game.is_over:
                self._say(self._result())
                answer = self._ask("Another game? [y/N] ")
                if answer is None or answer.lower() not in ("y", "yes"):
                    return 0
                self.game = RulesGame(self.graph.rules)
            elif self.game.to_play == self.human:
                if not self._human_turn():
                    return 0
            else:
                move = self.table_move()
                self.game.play(move)
                self._say(f"{MARKS[-self.human]} plays {self.game.move_name(move)}.")

    def table_move(self) -> int:
        """Return the table's move in the position as it stands."""
        edges = self._edges()
        return int(self._generator.choice(self.graph.edge_action[edges], p=self.policy[edges]))

    def _human_turn(self) -> bool:
        """Take the person's turn. Returns whether the game goes on."""
        while True:
            answer = ask_for_move(self.game, f"{MARKS[self.human]}> ", self._ask, self._say, WORDS, HELP)
            if isinstance(answer, int):
                self.game.play(answer)
                return True
            if answer == QUIT:
                self._say("Goodbye.")
                return False
            if answer == "undo":
                return self._undo()
            if answer == "hint":
                self._say(f"Best: {', '.join(self.game.move_name(move) for move in self.best_moves())}.")
            else:
                self._say(self.value_board())

    def _undo(self) -> bool:
        """Take back the person's last move and the reply to it."""
        if len(self.game.moves) < 2:
            self._say("There is no move of yours to take back.")
        else:
            self.game.undo()
            self.game.undo()
        return True

    def best_moves(self) -> list[int]:
        """Return the moves that keep the minimax value."""
        edges = self._edges()
        values = self.best[self.graph.arrays.edge_child[edges]] * self.game.to_play
        return self.graph.edge_action[edges][values == values.max()].tolist()

    def value_board(self) -> str:
        """Return the table's value of each free cell, from its own side, and below the exact results.

        On the person's turn these are values of the boards that the person would leave, as far as the table knows them.
        """
        edges = self._edges()
        children = self.graph.arrays.edge_child[edges]
        rows, columns = self.graph.rules.shape
        marks = [MARKS.get(int(cell), "") for cell in self.graph.boards[self._state()]]
        learnt, exact = list(marks), list(marks)
        for action, edge, child in zip(
            self.graph.edge_action[edges].tolist(), range(edges.start, edges.stop), children.tolist(), strict=True
        ):
            learnt[action] = self._learnt(edge, child)
            exact[action] = {1: "win", 0: "draw", -1: "loss"}[int(self.best[child]) * self.human]

        def grid(cells: list[str]) -> str:
            return "\n".join(
                "  ".join(f"{cell:>6}" for cell in cells[r * columns : (r + 1) * columns]) for r in range(rows)
            )

        return f"What the table expects for itself:\n{grid(learnt)}\nWhat perfect play gives you:\n{grid(exact)}"

    def _learnt(self, edge: int, child: int) -> str:
        """Return what the table thinks of its prospects after a move, `?` where it has never been."""
        agent = -self.human
        if self.game.to_play == agent:
            entries = np.array([child if self.table.entry_kind == AFTERSTATE else edge])
        else:
            first, last = self.graph.arrays.edge_start[child : child + 2].tolist()
            if first == last:
                return f"{int(self.graph.arrays.outcome[child]) * agent:+.2f}"
            replies = np.arange(first, last)
            entries = self.graph.arrays.edge_child[replies] if self.table.entry_kind == AFTERSTATE else replies
        known = entries[self.table.visits[entries] > 0]
        return f"{self.table.values[known].max():+.2f}" if len(known) else "?"

    def _state(self) -> int:
        return self.graph.find(self.graph.rules.board(self.game.position))

    def _edges(self) -> slice:
        state = self._state()
        return slice(*self.graph.arrays.edge_start[state : state + 2].tolist())

    def _result(self) -> str:
        outcome = self.game.outcome()
        return "A draw." if outcome == 0 else "You win." if outcome == self.human else "You lose."
