from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from miai.plain_text import visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("α = 0.1\n\ttab", "α = 0.1\n\ttab"),
        ("\x1b[2Jcleared", "�[2Jcleared"),  # clears the screen
        ("\x1b]0;title\x07", "�]0;title�"),  # sets the window's title
        ("\x9b31mred", "�31mred"),  # the same as \x1b[31m, in one character
        ("safe\rfake", "safe�fake"),  # writes over what stands in the line
        ("a\x08\x7fb", "a��b"),
        ("gpj.\u202eexe", "gpj.�exe"),  # shows exe.jpg
        ("囲碁 ✓", "囲碁 ✓"),
    ],
)
def test_what_commands_a_terminal_becomes_a_sign_of_its_own(text, shown):
    assert visible(text) == shown


@given(st.text())
def test_nothing_is_lost_but_control_and_the_length_stays(text):
    shown = visible(text)
    assert len(shown) == len(text)
    assert visible(shown) == shown
    assert all(character.isprintable() or character in "\n\t" or ord(character) > 0x9F for character in shown)
