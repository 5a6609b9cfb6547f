"""Passwords in addresses: taken apart rightly, put together again, and never seen."""

from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import make_url

from miai.errors import MiaiError
from miai.tracking.credentials import PASSWORD_VARIABLE, Credentials, concealed, hide, join, split

NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20)


@given(user=NAMES.filter(bool), password=NAMES)
def test_any_name_and_password_survive_an_address(user: str, password: str) -> None:
    credentials = Credentials(user, password)
    address = join("postgresql://db:5432/miai?sslmode=require", credentials)
    assert split(address) == ("postgresql://db:5432/miai?sslmode=require", credentials)
    read = make_url(address)  # As SQLAlchemy reads it.
    assert (read.username, read.password or "", read.host, read.port) == (user, password, "db", 5432)
    if len(password) > 2:
        assert hide(address) == join("postgresql://db:5432/miai?sslmode=require", Credentials(user)).replace("@", ":…@")


@pytest.mark.parametrize(
    ("uri", "expected"),
    [
        ("http://host:5000/p", Credentials()),
        ("http://me@host", Credentials("me")),
        ("http://me:@host", Credentials("me", "")),
        ("postgresql://:pw@host/x", Credentials("", "pw")),
        ("postgresql+psycopg://me:a:b@host/x", Credentials("me", "a:b")),
        ("postgresql:///miai", Credentials()),
        ("databricks", Credentials()),
    ],
)
def test_what_an_address_says(uri: str, expected: Credentials) -> None:
    bare, credentials = split(uri)
    assert credentials == expected
    assert "@" not in bare


@pytest.mark.parametrize(
    "uri", ["http://me:a@b@host", "http://me:a/b@host", "http://me:a#b@host", "http://me:a?b@host"]
)
def test_an_address_that_can_be_read_in_two_ways_is_refused_unseen(uri: str) -> None:
    with pytest.raises(MiaiError, match="written as %40") as caught:
        split(uri)
    assert "me:" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("GET http://me:pw@host:80/x failed", "GET http://me:…@host:80/x failed"),
        (
            "postgresql://db/x?user=me&password=pw&sslmode=require",
            "postgresql://db/x?user=me&password=…&sslmode=require",
        ),
        ("mssql://h/x?odbc_connect=DRIVER%3DPWD%3Dpw", "mssql://h/x?odbc_connect=…"),
        ("nothing to hide: 12:30 http://host:5000/a", "nothing to hide: 12:30 http://host:5000/a"),
    ],
)
def test_what_may_be_shown(text: str, shown: str) -> None:
    assert hide(text) == shown


def test_a_command_line_loses_its_password_and_the_store_finds_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(PASSWORD_VARIABLE, raising=False)
    given = ["seed=1", "tracking.uri=postgresql://me:p%40w@db/miai", "++tracking.uri='http://me:p%40w@h'"]
    with concealed(given) as shown:
        assert shown == ["seed=1", "tracking.uri=postgresql://me@db/miai", "++tracking.uri='http://me@h'"]
        assert os.environ[PASSWORD_VARIABLE] == "p@w"
    assert PASSWORD_VARIABLE not in os.environ
    untouched = ["tracking.uri=http://h:5000", "tracking.uri=sqlite:////a:b@c.db", "name=http://me:pw@h", "a@b=c"]
    monkeypatch.setenv(PASSWORD_VARIABLE, "the user's own")
    with concealed(untouched) as shown:
        assert shown == untouched
        assert os.environ[PASSWORD_VARIABLE] == "the user's own"
    with concealed(given):
        pass
    assert os.environ[PASSWORD_VARIABLE] == "the user's own"
