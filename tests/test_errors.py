"""Refusing a choice in one line that helps."""

import pytest

from miai.errors import MiaiError, choose


def test_what_is_allowed_passes():
    assert choose("sarsa", ["mc", "sarsa"], "algorithm") == "sarsa"


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("sarsaa", "algorithm: no such choice 'sarsaa'; allowed: mc, sarsa. Did you mean 'sarsa'?"),
        ("zzz", "algorithm: no such choice 'zzz'; allowed: mc, sarsa."),
        ("", "algorithm: no such choice ''; allowed: mc, sarsa."),
    ],
)
def test_anything_else_is_refused_with_what_is_allowed_and_the_nearest(value, message):
    with pytest.raises(MiaiError) as caught:
        choose(value, iter(["sarsa", "mc"]), "algorithm")
    assert str(caught.value) == message


def test_a_message_is_one_line_of_bounded_length_whatever_it_quotes():
    assert str(MiaiError("seed: not 'a\nb\u2028c'.")) == "seed: not 'a b c'."
    long = str(MiaiError(f"study {'x' * 9000}: no such choice; allowed: mc, sarsa."))
    assert len(long) < 2100
    assert long.startswith("study xxx")
    assert long.endswith("xxx: no such choice; allowed: mc, sarsa.")
