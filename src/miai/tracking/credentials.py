"""Names and passwords in addresses: taken out as early as can be, so that no file, log or line ever shows one."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import quote, unquote

from miai.errors import MiaiError

PASSWORD_VARIABLE = "MIAI_TRACKING_PASSWORD"  # noqa: S105
"""Holds the password of `tracking.uri` where that names a user alone, `postgresql://me@host/database`."""

HIDDEN = "…"

_ADDRESS = re.compile(r"(?P<scheme>[a-zA-Z][\w.+\-]*://)(?P<authority>[^/?#]*)(?P<rest>.*)", re.S)
_SECRET_OPTION = re.compile(r"(?P<name>[?&;](?:\w*(?:passw|pwd|token|secret)\w*|odbc_connect)=)[^&;]*", re.I)
_ARGUMENT = re.compile(r"(?P<key>\+{0,2}tracking\.uri=)(?P<quote>['\"]?)(?P<uri>.*)(?P=quote)", re.S)


@dataclass(frozen=True)
class Credentials:
    """Who asks. `None`: the address does not say."""

    user: str | None = None
    password: str | None = None


def split(uri: str) -> tuple[str, Credentials]:
    """Take the name and the password out of an address of a server or database.

    Returns:
        the address without both, and them, percent codes decoded.

    Raises:
        MiaiError: where they end cannot be told. The address is not repeated then.
    """
    found = _ADDRESS.fullmatch(uri)
    if found is None:
        return uri, Credentials()
    userinfo, at, host = found["authority"].rpartition("@")
    if "@" in userinfo or "@" in found["rest"]:
        raise MiaiError(
            "tracking.uri: in a name or a password, @ : / ? # % are written as %40 %3A %2F %3F %23 %25 "
            "(the address is not shown, since it may hold a password)."
        )
    if not at:
        return uri, Credentials()
    user, colon, password = userinfo.partition(":")
    credentials = Credentials(unquote(user), unquote(password) if colon else None)
    return f"{found['scheme']}{host}{found['rest']}", credentials


def join(uri: str, credentials: Credentials) -> str:
    """Put a name and a password into an address that has none; the reverse of `split`."""
    if credentials.user is None and credentials.password is None:
        return uri
    scheme, _, rest = uri.partition("://")
    password = "" if credentials.password is None else f":{quote(credentials.password, safe='')}"
    return f"{scheme}://{quote(credentials.user or '', safe='')}{password}@{rest}"


def hide(address: str) -> str:
    """An address, or a text that holds one, as it may be shown: without passwords. What is in doubt is left out."""
    address = re.sub(r"(://[^:/?#\s@]*):\S*@", rf"\1:{HIDDEN}@", address)
    return _SECRET_OPTION.sub(rf"\g<name>{HIDDEN}", address)


@contextlib.contextmanager
def concealed(arguments: Sequence[str]) -> Iterator[list[str]]:
    """Take the password out of `tracking.uri=…` on a command line, and hold it where `locate` finds it meanwhile.

    What reads the arguments later, writes them to files (Hydra) or repeats them in an error never sees it.

    Raises:
        MiaiError: as `split`.
    """
    shown = list(arguments)
    before = os.environ.get(PASSWORD_VARIABLE)
    try:
        for index, argument in enumerate(shown):
            found = _ARGUMENT.fullmatch(argument)
            if found is None or "://" not in found["uri"] or found["uri"].startswith("sqlite"):
                continue
            bare, credentials = split(found["uri"])
            if credentials.password is not None:
                os.environ[PASSWORD_VARIABLE] = credentials.password
                uri = join(bare, Credentials(credentials.user))
                shown[index] = f"{found['key']}{found['quote']}{uri}{found['quote']}"
        yield shown
    finally:
        if before is None:
            os.environ.pop(PASSWORD_VARIABLE, None)
        else:
            os.environ[PASSWORD_VARIABLE] = before
