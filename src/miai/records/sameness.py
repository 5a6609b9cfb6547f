"""Which games are the same: up to the eight symmetries of the board, by keys of 64 bits.

A game's key is the same for all its eight images, and is made of the position that it starts from and of its moves,
not of komi, result or names. Two different games have the same key by accident with a probability of 2⁻⁶⁴; among a
million games, no two do but once in thirty-seven million collections.
"""

from __future__ import annotations

import numpy as np

from miai.compiled import Index, kernel
from miai.games.game import FIRST
from miai.games.go.symmetry import NUM_SYMMETRIES, permutation
from miai.records.game_set import GameSet

_BLACK_STONE, _WHITE_STONE, _WHITE_FIRST = np.uint64(1 << 32), np.uint64(2 << 32), np.uint64(3 << 32)
"""Set apart, in what is mixed into a key, from moves: those are small numbers."""


def game_keys(game_set: GameSet) -> np.ndarray:
    """Return the key of each game, uint64[G]: evenly spread over all numbers of 64 bits."""
    return _read(game_set, np.empty(0, np.uint64), np.empty(0, bool))


def find_repeats(keys: np.ndarray) -> np.ndarray:
    """Return the first game that has the same key, int64[G]: the game itself if there is none before it."""
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    return first[inverse].astype(np.int64)


def find_beginnings(game_set: GameSet, keys: np.ndarray) -> np.ndarray:
    """Return which games are the beginning of a longer one, up to symmetry, bool[G].

    Args:
        keys: what `game_keys` gave for the set.
    """
    known = np.unique(keys)
    is_beginning = np.zeros(len(known), bool)
    _read(game_set, known, is_beginning)
    return is_beginning[np.searchsorted(known, keys)]


def _read(game_set: GameSet, known: np.ndarray, is_beginning: np.ndarray) -> np.ndarray:
    """Return the games' keys; mark beginnings among the `known` keys, in place."""
    size = game_set.board_size
    keys = np.empty(len(game_set), np.uint64)
    _read_games(
        np.array([permutation(size, k) for k in range(NUM_SYMMETRIES)]),
        game_set.start,
        game_set.moves,
        game_set.first_to_play,
        game_set.black_setup_start,
        game_set.black_setup,
        game_set.white_setup_start,
        game_set.white_setup,
        np.empty(NUM_SYMMETRIES, np.uint64),
        known,
        is_beginning,
        keys,
    )
    return keys


@kernel
def _read_games(
    images: np.ndarray,
    start: np.ndarray,
    moves: np.ndarray,
    first_to_play: np.ndarray,
    black_start: np.ndarray,
    black: np.ndarray,
    white_start: np.ndarray,
    white: np.ndarray,
    own: np.ndarray,
    known: np.ndarray,
    is_beginning: np.ndarray,
    keys: np.ndarray,
) -> None:
    """Fill `keys`; and mark, in `is_beginning`, each of the `known` keys that a proper beginning of a game has.

    `own`, uint64[8], is scratch: the keys of a game's images so far.
    """
    for game in range(len(start) - 1):
        for k in range(NUM_SYMMETRIES):
            own[k] = _WHITE_FIRST * np.uint64(first_to_play[game] != FIRST) + np.uint64(images.shape[1])
            # Stones are added up, since a set-up has no order.
            for i in range(black_start[game], black_start[game + 1]):
                own[k] += _mix(_BLACK_STONE + np.uint64(images[k, black[i]]))
            for i in range(white_start[game], white_start[game + 1]):
                own[k] += _mix(_WHITE_STONE + np.uint64(images[k, white[i]]))
        for i in range(start[game], start[game + 1]):
            if len(known):
                _mark(known, is_beginning, _smallest(own))
            move = moves[i]
            for k in range(NUM_SYMMETRIES):
                to = np.uint64(images[k, move] + 1) if move >= 0 else np.uint64(0)
                own[k] = _mix(own[k] + to)
        keys[game] = _smallest(own)


@kernel
def _smallest(own: np.ndarray) -> np.uint64:
    """Return one key for the eight images: their smallest, mixed, since the smallest of eight is not spread evenly."""
    key = own[0]
    for k in range(1, NUM_SYMMETRIES):
        key = min(key, own[k])
    return _mix(key)


@kernel
def _mark(known: np.ndarray, is_beginning: np.ndarray, key: np.uint64) -> None:
    """Mark a key, if it is one of the `known`, which are in ascending order; in place."""
    low, high = 0, len(known)
    while low < high:
        middle = (low + high) // 2
        if known[middle] < key:
            low = middle + 1
        else:
            high = middle
    if low < len(known) and known[low] == key:
        is_beginning[low] = True


@kernel
def _mix(x: Index) -> np.uint64:
    """Return a number of 64 bits that depends on every bit of another, one to one (splitmix64, Steele et al. 2014)."""
    x = np.uint64(x) + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
