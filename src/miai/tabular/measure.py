"""The measurements of one seat of a policy, under the names that MLflow, the figures and the documentation use."""

from __future__ import annotations

import numpy as np

from miai.games.graph import GameGraph
from miai.tabular import evaluation
from miai.tabular.evaluation import Sample, Values
from miai.tabular.policies import joint_policy


class SeatMeasure:
    """Measures policies of `player` (+1 or −1) against one fixed opponent, float64[E]."""

    def __init__(self, graph: GameGraph, player: int, opponent: np.ndarray) -> None:
        self.graph = graph
        self.player = player
        self.opponent = opponent
        self.best_value = evaluation.best_value(graph, player, opponent)
        self.value_of_game = evaluation.value_of_game(graph, player)
        self._scratch = Values(np.empty(graph.num_states), np.empty(graph.num_states))
        self._owned_states = graph.arrays.to_play == -player
        self._owned_states[0] = False

    def policy(self, policy: np.ndarray) -> dict[str, float]:
        """Return, exactly: win, draw, loss, value, optimality_gap (against the opponent) and exploitability."""
        result = evaluation.outcome(
            self.graph, self.player, joint_policy(self.graph, self.player, policy, self.opponent)
        )
        against_best = evaluation.state_values(self.graph, policy, None, out=self._scratch)
        return {
            "win": result.win,
            "draw": result.draw,
            "loss": result.loss,
            "value": result.value,
            "optimality_gap": _without_rounding(self.best_value - result.value),
            "exploitability": _without_rounding(self.value_of_game - evaluation.start_value(self.player, against_best)),
        }

    def rms_error(
        self,
        entry_kind: str,
        values: np.ndarray,
        visits: np.ndarray,
        policy: np.ndarray,
        replies: np.ndarray,
        gamma: float,
    ) -> float:
        """Return the root mean square distance of this seat's updated entries from their exact values.

        Exact is the value of `policy` in this seat against `replies`, discounted by `gamma`.
        """
        exact = evaluation.state_values(self.graph, policy, replies, gamma, out=self._scratch)
        if entry_kind == "afterstate":
            updated = (visits > 0) & self._owned_states
            errors = values[updated] - exact.after_move[updated]
        else:
            children = self.graph.arrays.edge_child
            updated = (visits > 0) & self._owned_states[children]
            errors = values[updated] - exact.after_move[children[updated]]
        return float(np.sqrt(np.mean(errors**2))) if len(errors) else 0.0

    def sample(self, policy: np.ndarray, num_games: int, stream: np.ndarray) -> Sample:
        """Play games against the opponent; `stream` is modified in place."""
        joint = joint_policy(self.graph, self.player, policy, self.opponent)
        return evaluation.sample_games(self.graph, self.player, joint, num_games, stream)


def _without_rounding(gap: float) -> float:
    """A gap is 0 or more; a few units of the last place on either side of 0 are the rounding of a sum."""
    return 0.0 if abs(gap) < 1e-12 else gap
