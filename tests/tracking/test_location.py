"""Where a store is, whatever the user writes and wherever the command is started."""

from __future__ import annotations

from pathlib import Path

import pytest

from miai.errors import MiaiError
from miai.tracking import locate
from miai.tracking.credentials import Credentials
from miai.tracking.location import local_path


def test_the_default_is_a_sqlite_file_in_mlruns_with_artifacts_beside_it(tmp_path: Path) -> None:
    location = locate(root=tmp_path)
    assert location.uri == f"sqlite:///{tmp_path}/mlruns/mlflow.db"
    assert location.database == tmp_path / "mlruns" / "mlflow.db"
    assert local_path(location.artifacts or "") == tmp_path / "mlruns" / "artifacts"


def test_a_relative_sqlite_path_counts_from_the_root_not_from_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir("/")
    location = locate("sqlite:///other/store.db", root=tmp_path)
    assert location.database == tmp_path / "other" / "store.db"
    assert local_path(location.artifacts or "") == tmp_path / "other" / "artifacts"


def test_an_absolute_sqlite_path_and_its_options_stay(tmp_path: Path) -> None:
    location = locate(f"sqlite:///{tmp_path}/a.db?timeout=60", root=Path("/"))
    assert location.uri == f"sqlite:///{tmp_path}/a.db?timeout=60"
    assert location.database == tmp_path / "a.db"


def test_a_server_decides_where_artifacts_are_unless_the_user_does(tmp_path: Path) -> None:
    assert locate("http://127.0.0.1:5000/", root=tmp_path).artifacts is None
    assert locate("http://127.0.0.1:5000", "s3://bucket/miai/", tmp_path).artifacts == "s3://bucket/miai"
    assert locate("http://127.0.0.1:5000", root=tmp_path).database is None


def test_artifacts_may_be_any_folder_or_address(tmp_path: Path) -> None:
    assert local_path(locate(artifacts="big disk", root=tmp_path).artifacts or "") == tmp_path / "big disk"
    assert locate(artifacts="gs://bucket", root=tmp_path).artifacts == "gs://bucket"
    assert (
        local_path(locate("postgresql://me:pw@db/miai", root=tmp_path).artifacts or "") == tmp_path / "mlruns/artifacts"
    )


@pytest.mark.parametrize("uri", ["./mlruns", "/data/mlruns", "file:///data/mlruns", "store.db"])
def test_a_file_store_is_refused_in_one_line_that_says_what_is_allowed(uri: str) -> None:
    with pytest.raises(MiaiError, match=r"file store.*allowed: sqlite:///") as caught:
        locate(uri)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("uri", ["ftp://host/x", "sqlite://", "sqlite:///:memory:"])
def test_other_addresses_that_hold_no_store_are_refused(uri: str) -> None:
    with pytest.raises(MiaiError, match=r"tracking\.uri"):
        locate(uri)


def test_name_and_password_are_taken_out_of_the_address_and_shown_nowhere() -> None:
    location = locate("postgresql://me:s%40cr%3At@db:5432/miai?sslmode=require", root=Path("/"))
    assert location.uri == location.shown == "postgresql://db:5432/miai?sslmode=require"
    assert location.credentials == Credentials("me", "s@cr:t")
    assert location.whole == "postgresql://me:s%40cr%3At@db:5432/miai?sslmode=require"
    assert "cr" not in repr(location)
    server = locate("https://me:s%40cr%3At@host/prefix/", root=Path("/"))
    assert (server.uri, server.credentials) == ("https://host/prefix", Credentials("me", "s@cr:t"))


def test_a_run_is_meant_for_the_same_store_whoever_signs_in() -> None:
    addresses = ("http://host:5000", "http://me@host:5000", "http://you:pw@host:5000/")
    assert {locate(address, root=Path("/")).shown for address in addresses} == {"http://host:5000"}


def test_a_name_alone_has_its_password_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIAI_TRACKING_PASSWORD", "from outside")
    assert locate("postgresql://me@db/miai", root=Path("/")).credentials == Credentials("me", "from outside")
    assert locate("postgresql://me:own@db/miai", root=Path("/")).credentials == Credentials("me", "own")
    assert locate("http://host", root=Path("/")).credentials == Credentials()


@pytest.mark.parametrize(
    "uri", ["ftp://me:secret@host/x", "postgresql://me:sec@ret@db/x", "http://me:sec/ret@host", "mysql://me:se?cret@db"]
)
def test_an_address_that_is_refused_is_shown_without_its_password(uri: str) -> None:
    with pytest.raises(MiaiError, match=r"tracking\.uri") as caught:
        locate(uri)
    assert "sec" not in str(caught.value)
    assert "ret" not in str(caught.value)
