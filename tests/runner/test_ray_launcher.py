"""The launcher for Ray without a Ray: what its actor does. tests/contract/test_launchers.py has a real one."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from miai.errors import MiaiError
from miai.runner.launchers.ray import Ray, RayActor
from miai.runner.launchers.station import Home, Station
from miai.runner.pool import Call, Done, Message, Setup, say
from miai.tracking import locate


def double(x: int) -> int:
    say(("progress", 1, 2))
    return 2 * x


@pytest.fixture
def actor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RayActor]:
    monkeypatch.setenv("MIAI_HOME", str(tmp_path))
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])  # An actor puts another in its place.
    location = locate("http://127.0.0.1:9", root=tmp_path)
    location.mlruns.mkdir()
    home = Home.here(location)
    actor = RayActor(Station(home, 1, 1, Setup()))
    assert actor.open() == ""
    yield actor
    assert actor._pool is not None
    actor._pool.stop(grace=0.5)
    home.leave()


def test_a_stream_ends_with_its_call_and_leaves_the_next_ones_events_alone(actor: RayActor) -> None:
    first = actor.do(Call.of("first", double, (1,)))
    assert [next(first), next(first)] == [Message("first", ("progress", 1, 2)), Done("first", 2)]
    # The sender has the answer, and sends the next call before Ray goes on with the first stream.
    second = actor.do(Call.of("second", double, (2,)))
    assert next(second) == Message("second", ("progress", 1, 2))
    assert list(first) == []
    assert list(second) == [Done("second", 4)]


def test_a_complaint_is_one_line(tmp_path: Path) -> None:
    location = locate("http://127.0.0.1:9", root=tmp_path)
    location.mlruns.mkdir()
    home = Home.here(location)
    home.leave()
    elsewhere = Home(**{**vars(home), "root": tmp_path / "nosuch"})
    main, environment = sys.modules["__main__"], dict(os.environ)
    try:
        complaint = RayActor(Station(elsewhere, 1, 1, Setup())).open()
    finally:
        sys.modules["__main__"] = main
    assert complaint.startswith("launcher: ")
    assert "share the project's folder (MIAI_HOME)" in complaint
    assert "\n" not in complaint
    assert dict(os.environ) == environment


def test_an_address_for_rays_client_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("miai.runner.launchers.ray.need", lambda *_: None)
    with pytest.raises(MiaiError, match=r"^launcher\.address: 'ray://head:10001' is for Ray's client"):
        Ray(address="ray://head:10001").check(locate(root=tmp_path))
