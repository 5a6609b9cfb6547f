"""A Slurm of one node, for tests: munged, slurmctld and slurmd on loopback, with all their files in one folder.

As a script it runs until Ctrl-C: sudo python tests/runner/slurm_node.py FOLDER, and elsewhere what it says to export.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "scontrol")
PATIENCE = 60.0

CONFIGURATION = """
ClusterName=miai
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller_port}
SlurmdPort={node_port}
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=1,bf_interval=1
ReturnToService=2
KillWait=5
MinJobAge=10
SlurmdTimeout=300
NodeName={host} NodeAddr=127.0.0.1 CPUs={cores} State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def missing() -> str:
    """Why there can be no such node here; "" if there can."""
    for program in PROGRAMS:
        if _program(program) is None:
            return f"{program} is not installed (Debian: slurm-wlm, munge)"
    return "" if os.geteuid() == 0 else "Slurm's daemons are started as root"


@contextmanager
def slurm_node(folder: Path) -> Iterator[dict[str, str]]:
    """Run the node. Gives the environment in which Slurm's commands reach it."""
    for name in ("state", "spool"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    folder.chmod(0o755)
    (folder / "munge.key").write_bytes(os.urandom(128))
    (folder / "munge.key").chmod(0o400)
    ports = _free_ports(2)
    configuration = folder / "slurm.conf"
    configuration.write_text(
        CONFIGURATION.format(
            host=socket.gethostname().partition(".")[0],
            folder=folder,
            controller_port=ports[0],
            node_port=ports[1],
            cores=len(os.sched_getaffinity(0)),
        )
    )
    environment = {"SLURM_CONF": str(configuration)}
    munge = [f"--{name}={folder}/munge.{name}" for name in ("socket",)]
    munge += [f"--{name}-file={folder}/munge.{name}" for name in ("key", "pid", "log", "seed")]
    daemons: list[subprocess.Popen] = []
    try:
        daemons.append(_start(folder, ["munged", "--foreground", "--force", *munge], environment))
        _wait((folder / "munge.socket").exists, daemons, "munged")
        daemons.append(_start(folder, ["slurmctld", "-D", "-i"], environment))
        daemons.append(_start(folder, ["slurmd", "-D"], environment))
        _wait(lambda: _idle(environment), daemons, "the node")
        yield environment
    finally:
        _cancel_all(environment)
        for daemon in reversed(daemons):
            daemon.send_signal(signal.SIGTERM)
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()


def _program(name: str) -> str | None:
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")


def _free_ports(number: int) -> list[int]:
    sockets = [socket.socket() for _ in range(number)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def _start(folder: Path, command: list[str], environment: dict[str, str]) -> subprocess.Popen:
    log = (folder / f"{command[0]}.out").open("wb")
    with log:
        return subprocess.Popen(
            [_program(command[0]) or command[0], *command[1:]],
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )


def _idle(environment: dict[str, str]) -> bool:
    command = ["sinfo", "--noheader", "--format=%T"]
    said = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, check=False)
    return said.returncode == 0 and said.stdout.strip() == "idle"


def _cancel_all(environment: dict[str, str]) -> None:
    """Cancel what a test left, and wait until the node is free of it."""
    everything = {**os.environ, **environment}
    for how in (["--signal=KILL", "--full"], []):
        subprocess.run(["scancel", "--user=root", *how], env=everything, capture_output=True, check=False)
    deadline = time.monotonic() + 15
    while not _idle(environment) and time.monotonic() < deadline:
        time.sleep(0.2)


def _wait(condition, daemons: list[subprocess.Popen], what: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        for daemon in daemons:
            if daemon.poll() is not None:
                raise RuntimeError(f"{daemon.args} ended with {daemon.returncode}")
        if time.monotonic() > deadline:
            raise RuntimeError(f"waited in vain for {what}")
        time.sleep(0.1)


if __name__ == "__main__":
    if len(sys.argv) != 2 or missing():
        sys.exit(missing() or __doc__)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: sys.exit(0))  # Through the end of the block below.
    with slurm_node(Path(sys.argv[1]).resolve()) as environment:
        for name, value in environment.items():
            sys.stdout.write(f"export {name}={value}\n")
        sys.stdout.flush()
        signal.pause()
