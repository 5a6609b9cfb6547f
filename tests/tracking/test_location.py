"""Where a store is, whatever the user writes and wherever the command is started."""

from __future__ import annotations

from pathlib import Path

import pytest

from miai.errors import MiaiError
from miai.tracking import locate
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


def test_a_password_is_not_shown() -> None:
    assert locate("postgresql://me:secret@db:5432/miai", root=Path("/")).shown == "postgresql://me:…@db:5432/miai"
