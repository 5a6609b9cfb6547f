import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from miai.gtp.protocol import (
    Command,
    GtpError,
    clean,
    colour,
    failure,
    parse_command,
    real,
    success,
    take,
    whole,
)


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("name", Command(None, "name", ())),
        ("12 play b D4", Command("12", "play", ("b", "D4"))),
        ("  007   genmove\twhite  # please", Command("007", "genmove", ("white",))),
        ("play b\x07 D\x004\r", Command(None, "play", ("b", "D4"))),
        ("5", Command("5", "", ())),
        ("12345678901 name", Command(None, "12345678901", ("name",))),
        ("12x name", Command(None, "12x", ("name",))),
        ("", None),
        (" \t ", None),
        ("# only a comment", None),
        ("\x01\x02", None),
    ],
)
def test_lines(line, command):
    assert parse_command(line) == command


def test_responses():
    assert success(None) == "=\n\n"
    assert success("3") == "=3\n\n"
    assert success("3", "D4") == "=3 D4\n\n"
    assert failure("3", "illegal move") == "?3 illegal move\n\n"
    assert success(None, "\n A B\n1 . .") == "=\n A B\n1 . .\n\n"


@settings(deadline=None)
@given(st.sampled_from((None, "1")), st.text())
def test_no_response_holds_an_empty_line(command_id, text):
    for response in (success(command_id, text), failure(command_id, text)):
        assert response.endswith("\n\n")
        assert "\n\n" not in response[:-2]
        assert "\r" not in response


@settings(deadline=None)
@given(st.text())
def test_any_line_is_a_command_or_nothing(line):
    command = parse_command(line)
    assert (command is None) == (clean(line) == "")


@pytest.mark.parametrize("text", ["b", "B", "black", "BLACK", "Black"])
def test_black(text):
    assert colour(text) == 1
    assert colour("w") == colour("White") == -1


@pytest.mark.parametrize(
    ("reader", "text"),
    [
        *((colour, text) for text in ("", "x", "bl", "1")),
        *((whole, text) for text in ("", "-1", "1.0", "x", "2147483648", "99999999999", "١")),
        *((real, text) for text in ("", "x", "nan", "inf", "1e999", "1_0", "٣")),
    ],
)
def test_arguments_that_are_none(reader, text):
    with pytest.raises(GtpError, match=r"^syntax error: "):
        reader(text)


def test_arguments():
    assert whole("0") == 0
    assert whole("2147483647") == 2_147_483_647
    assert real("-7.5") == -7.5
    assert take(("a", "b"), 1, 2) == ("a", "b")
    for args, least, most, message in (
        ((), 1, 1, "0 arguments, 1 needed"),
        (("a",), 2, 3, "1 arguments, 2 to 3 needed"),
        ((), 1, None, "0 arguments, at least 1 needed"),
        (("a", "b"), 1, 1, "2 arguments, 1 needed"),
    ):
        with pytest.raises(GtpError, match=message):
            take(args, least, most)
