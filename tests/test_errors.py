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
