"""The compose file opens nothing beyond its machine, holds no secret, and starts what is there."""

from __future__ import annotations

import re

import yaml

from .markdown import ROOT

DEPLOY = ROOT / "deploy"
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))


def test_only_the_server_has_a_port_and_only_on_loopback() -> None:
    services = COMPOSE["services"]
    assert {name: service.get("ports") for name, service in services.items()} == {
        "database": None,
        "server": ["127.0.0.1:5000:5000"],
    }
    assert not [name for name, service in services.items() if "network_mode" in service or service.get("privileged")]


def test_secrets_are_files_of_their_own_that_git_ignores() -> None:
    asked_for = {secret for service in COMPOSE["services"].values() for secret in service["secrets"]}
    read = set(re.findall(r'\$secrets/(\w+)"', (DEPLOY / "serve.sh").read_text(encoding="utf-8")))
    assert asked_for == read == set(COMPOSE["secrets"])
    assert {secret["file"] for secret in COMPOSE["secrets"].values()} == {f"secrets/{name}" for name in read}
    assert "deploy/secrets/" in (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()


def test_volumes_are_declared_and_the_image_copies_files_that_are_there() -> None:
    mounted = {volume.partition(":")[0] for service in COMPOSE["services"].values() for volume in service["volumes"]}
    assert mounted == set(COMPOSE["volumes"])
    build = COMPOSE["services"]["server"]["build"]
    context = DEPLOY / build["context"]
    lines = (context / build["dockerfile"]).read_text(encoding="utf-8").splitlines()
    copied = [word for line in lines if line.startswith("COPY ") for word in line.split()[1:-1]]
    assert copied
    assert all((context / name).is_file() for name in copied), copied
    let_in = (DEPLOY / "Dockerfile.dockerignore").read_text(encoding="utf-8").splitlines()
    assert let_in[0] == "*"
    patterns = [re.escape(line.removeprefix("!")).replace(r"\*", "[^/]*") for line in let_in[1:]]
    assert all(any(re.fullmatch(pattern, name) for pattern in patterns) for name in copied), copied
