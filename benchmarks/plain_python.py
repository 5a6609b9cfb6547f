"""SARSA as courses write it: a NumPy board, a table that is a dictionary keyed by state and action.

The game is a class of small methods that look at the board anew each time they are asked, line after line; the
opponent is part of the environment; a state is a copy of the board. Nothing is made slow on purpose, and nothing is
tuned: this is the program that people bring along, and wait for.
"""

from __future__ import annotations

import numpy as np

X, O, EMPTY = 1, -1, 0  # noqa: E741

Action = tuple[int, int]


class TicTacToe:
    def __init__(self) -> None:
        self.board = np.zeros((3, 3), dtype=int)

    def reset(self) -> None:
        self.board = np.zeros((3, 3), dtype=int)

    def state(self) -> np.ndarray:
        return self.board.copy()

    def play(self, action: Action, player: int) -> None:
        self.board[action] = player

    def has_won(self, player: int) -> bool:
        for i in range(3):
            if np.all(self.board[i, :] == player) or np.all(self.board[:, i] == player):
                return True
        return bool(np.all(np.diag(self.board) == player) or np.all(np.diag(np.fliplr(self.board)) == player))

    def winner(self) -> int | None:
        for player in (X, O):
            if self.has_won(player):
                return player
        return None

    def is_draw(self) -> bool:
        return self.winner() is None and not np.any(self.board == EMPTY)

    def is_over(self) -> bool:
        return self.winner() is not None or self.is_draw()

    def reward(self, player: int) -> float:
        winner = self.winner()
        if winner is None:
            return 0.0
        return 1.0 if winner == player else -1.0


def legal_actions(state: np.ndarray) -> list[Action]:
    return [(int(row), int(column)) for row, column in np.argwhere(state == EMPTY)]


class Environment:
    """The game with a random opponent. The learner is X."""

    def __init__(self) -> None:
        self.game = TicTacToe()

    def reset(self) -> np.ndarray:
        self.game.reset()
        return self.game.state()

    def step(self, action: Action) -> tuple[np.ndarray, float, bool]:
        """Play the learner's move and the reply; return the next state, the reward, and whether the game is over."""
        self.game.play(action, X)
        if not self.game.is_over():
            replies = legal_actions(self.game.board)
            self.game.play(replies[np.random.choice(len(replies))], O)  # noqa: NPY002
        return self.game.state(), self.game.reward(X), self.game.is_over()


class Sarsa:
    def __init__(self, alpha: float, gamma: float) -> None:
        self.alpha = alpha
        self.gamma = gamma
        self.q: dict[tuple[bytes, Action], float] = {}

    def value(self, state: np.ndarray, action: Action) -> float:
        return self.q.get((state.tobytes(), action), 0.0)

    def choose(self, state: np.ndarray, epsilon: float) -> Action:
        actions = legal_actions(state)
        if np.random.rand() < epsilon:  # noqa: NPY002
            return actions[np.random.choice(len(actions))]  # noqa: NPY002
        return actions[int(np.argmax([self.value(state, action) for action in actions]))]

    def update(self, state: np.ndarray, action: Action, target: float) -> None:
        old = self.value(state, action)
        self.q[state.tobytes(), action] = old + self.alpha * (target - old)


def train(num_games: int, decay: float, alpha: float = 0.1, gamma: float = 0.9, seed: int = 0) -> Sarsa:
    """Train X against a random O, with ε falling from 1 to 0.01 by e^(−game / decay)."""
    np.random.seed(seed)  # noqa: NPY002
    environment, learner = Environment(), Sarsa(alpha, gamma)
    for episode in range(num_games):
        epsilon = 0.01 + 0.99 * np.exp(-episode / decay)
        state = environment.reset()
        action = learner.choose(state, epsilon)
        is_over = False
        while not is_over:
            next_state, reward, is_over = environment.step(action)
            if is_over:
                learner.update(state, action, reward)
            else:
                next_action = learner.choose(next_state, epsilon)
                learner.update(state, action, gamma * learner.value(next_state, next_action))
                state, action = next_state, next_action
    return learner
