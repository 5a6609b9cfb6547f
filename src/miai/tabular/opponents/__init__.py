"""Opponents of a learner. An opponent is one file here, with a `KIND`, and one YAML in `conf/opponent/`.

An opponent is a policy on the game graph: for every state, probabilities of its moves. It says how it would play
in either seat; the kernels sample from it, and exact evaluation takes expectations over it.
"""

from miai.tabular.opponents.kind import Opponent, opponents

__all__ = ["Opponent", "opponents"]
