"""PUCT in plain, slow Python, one descent at a time, the reference for the compiled one; and networks of no worth."""

from __future__ import annotations

import math

import numpy as np

from miai.games.game import PASS
from miai.games.go import GoGame
from miai.games.go.board import BLACK, POINTS, SIZE, WHITE
from miai.games.go.boards import Boards


class LinearNetworks:
    """A policy and a value that are linear in the stones, with fixed random weights: no good, but never twice alike.

    It satisfies `LeafEvaluator`, and counts what it is asked.
    """

    def __init__(self, board_size: int, seed: int = 1, priors: bool = True, values: bool = True, scale: float = 1.0):
        rng = np.random.default_rng(seed)
        points = board_size**2
        self.board_size = board_size
        self.gives_priors = priors
        self.gives_values = values
        self.policy_weights = scale * rng.standard_normal((points, points))
        self.value_weights = 0.3 * scale * rng.standard_normal(points)
        self.asked: list[list[tuple[bytes, int, int]]] = []
        """By batch: the stones, the side to move and the question."""

    def logits(self, own: np.ndarray) -> np.ndarray:
        """Return float32[N²], of stones from the mover's side, int8[N, N]."""
        return (self.policy_weights @ own.ravel()).astype(np.float32)

    def value(self, own: np.ndarray) -> np.float32:
        return np.float32(math.tanh(float(self.value_weights @ own.ravel())))

    def evaluate(
        self,
        boards: Boards,
        count: int,
        asks: np.ndarray,
        rng: np.random.Generator,
        logits: np.ndarray,
        values: np.ndarray,
    ) -> None:
        batch = []
        for row in range(count):
            stones = stones_of(boards, row)
            own = stones if boards.to_play[row] == BLACK else -stones
            logits[row] = self.logits(own)
            values[row] = self.value(own)
            batch.append((stones.tobytes(), int(boards.to_play[row]), int(asks[row])))
        self.asked.append(batch)


def stones_of(boards: Boards, row: int) -> np.ndarray:
    """Return the stones of a row, int8[N, N]: +1 black, −1 white."""
    size = int(boards.cells[row, SIZE])
    frame = boards.cells[row, :POINTS].reshape(21, 21)[1 : size + 1, 1 : size + 1]
    return np.where(frame == BLACK, 1, np.where(frame == WHITE, -1, 0)).astype(np.int8)


class PlainNode:
    def __init__(self, prior: float) -> None:
        self.prior = prior
        self.visits = 0
        self.value = 0.0
        """The sum of results for Black."""
        self.leaf_value: float | None = None
        self.children: dict[int, PlainNode] = {}


class PlainPuct:
    """The same search as `PuctSearcher` with λ = 0 and batches of one."""

    def __init__(self, networks: LinearNetworks, c_puct: float, fpu: float | None, expand_after: int) -> None:
        self.networks = networks
        self.c_puct = c_puct
        self.fpu = fpu
        self.expand_after = expand_after

    def search(self, game: GoGame, num_simulations: int) -> PlainNode:
        root = PlainNode(1.0)
        self.expand(root, game)
        for _ in range(num_simulations):
            self.simulate(root, game.copy())
        return root

    def simulate(self, root: PlainNode, game: GoGame) -> None:
        path = [root]
        while path[-1].children:
            move = self.select(path[-1], game.to_play)
            path.append(path[-1].children[move])
            game.play(move)
        leaf = path[-1]
        if game.is_over:
            score = game.score()
            result = float(np.sign(score))
        else:
            if leaf.leaf_value is None:
                own = game.board * game.to_play
                leaf.leaf_value = float(self.networks.value(own)) * game.to_play
            result = leaf.leaf_value
            if leaf.visits + 1 >= self.expand_after:
                self.expand(leaf, game)
        for node in path:
            node.visits += 1
            node.value += result

    def select(self, node: PlainNode, to_play: int) -> int:
        total = max(1, sum(child.visits for child in node.children.values()))
        mean = to_play * node.value / max(node.visits, 1)
        best, best_score = None, -math.inf
        for move, child in node.children.items():
            q = to_play * child.value / child.visits if child.visits else (mean if self.fpu is None else self.fpu)
            score = q + self.c_puct * math.sqrt(total) * child.prior / (1 + child.visits)
            if score > best_score:
                best, best_score = move, score
        assert best is not None
        return best

    def expand(self, node: PlainNode, game: GoGame) -> None:
        moves = [move for move in game.legal_moves() if move != PASS and not fills_eye(game, move)]
        logits = self.networks.logits(game.board * game.to_play)
        if moves:
            weights = [math.exp(float(logits[move]) - max(float(logits[other]) for other in moves)) for move in moves]
            total = sum(weights)
            for move, weight in zip(moves, weights, strict=True):
                share = len(moves) / ((len(moves) + 1) * total)
                node.children[move] = PlainNode(float(np.float32(np.float32(weight) * share)))
        node.children[PASS] = PlainNode(float(np.float32(1 / (len(moves) + 1))))


def fills_eye(game: GoGame, move: int) -> bool:
    """Tell whether all neighbours are the mover's, and at most one diagonal (none at the edge) the opponent's."""
    row, column = divmod(move, game.size)
    board = np.pad(game.board * game.to_play, 1, constant_values=9)
    around = [board[row + 1 + i, column + 1 + j] for i, j in ((0, 1), (1, 0), (0, -1), (-1, 0))]
    diagonals = [board[row + 1 + i, column + 1 + j] for i in (-1, 1) for j in (-1, 1)]
    if not all(stone in (1, 9) for stone in around):
        return False
    return diagonals.count(-1) <= (0 if 9 in diagonals else 1)
