"""What is fuzzed: everything that Miai reads. `TARGETS` is the table; each target makes sound samples of its kind and
reads damaged ones, as the commands do. To read is to return, or to raise a `MiaiError` of one line; nothing else."""

from __future__ import annotations

import importlib
import io
import json
import shutil
import tarfile
import zipfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from chaos import damage
from chaos.damage import Mutation

Reader = Callable[[bytes], None]
Opened = tuple[list[bytes], Reader]
"""Sound samples, and what reads one."""


@dataclass(frozen=True)
class Target:
    """A kind of input.

    Attributes:
        open: is given an empty folder that is also the project (`MIAI_HOME`) and the current folder.
    """

    name: str
    mutations: tuple[Mutation, ...]
    open: Callable[[Path], Opened]


# ---- tables and checkpoints ----


def tables(folder: Path) -> Opened:
    from miai.tabular.table import ValueTable
    from tabular.configuration import trained

    path = folder / "table.npz"
    samples = []
    for algorithm, games in (("sarsa", 3), ("afterstate", 200)):
        trainer = trained(algorithm=algorithm, num_games=games, num_checkpoints=1, test={"games": 0})
        trainer.table().save(path, trainer.graph)
        samples.append(path.read_bytes())

    def read(content: bytes) -> None:
        path.write_bytes(content)
        table = ValueTable.load(path, trainer.graph)
        assert np.isfinite(table.values).all()
        assert (table.visits >= 0).all()

    return samples, read


def checkpoints(folder: Path) -> Opened:
    """Beside the arrays, what the run had logged; a checkpoint that cannot be read counts as none."""
    from miai.runner.checkpoint import CHECKPOINT_FILE, Checkpoints

    kept = Checkpoints(folder / "checkpoint")
    rows = [(1_700_000_000_000, step, {"eval/win": step / 7}) for step in range(5)]
    kept.save({"weights": np.linspace(0, 1, 40), "step": np.array(3), "name": np.array("x")}, rows)
    path = kept.folder / CHECKPOINT_FILE

    def read(content: bytes) -> None:
        path.write_bytes(content)
        loaded = kept.load()
        if loaded is not None:
            arrays, logged = loaded
            assert all(isinstance(array, np.ndarray) and not array.dtype.hasobject for array in arrays.values())
            for moment, step, metrics in logged:
                assert isinstance(moment, int)
                assert isinstance(step, int)
                assert all(np.isfinite(value) and isinstance(name, str) for name, value in metrics.items())

    return [path.read_bytes()], read


def units(folder: Path) -> Opened:
    """Results of units of work."""
    from miai.runner.checkpoint import Checkpoints

    kept = Checkpoints(folder / "checkpoint")
    kept.save_unit("game/1", {"won": True, "value": 0.1, "moves": [1, 2]})
    [path] = (kept.folder / "units").iterdir()

    def read(content: bytes) -> None:
        path.write_bytes(content)
        result = kept.load_unit("game/1")
        assert result is None or isinstance(result, dict)

    return [path.read_bytes()], read


# ---- data sets and networks ----


def game_sets(folder: Path) -> Opened:
    from miai.records.game_set import GameSet
    from records.random_games import random_record

    path = folder / "games.safetensors"
    GameSet.from_records([random_record(seed) for seed in range(4)], [0, 1, 2, 0], ["a", "b", "a", "b"]).save(path)

    def read(content: bytes) -> None:
        path.unlink()  # The last one may still be mapped.
        path.write_bytes(content)
        games = GameSet.load(path)
        for game in range(min(len(games), 8)):
            games.to_record(game)
        games.take(games.games("train"))

    return [path.read_bytes()], read


def networks(folder: Path) -> Opened:
    from miai.networks.spec import NetworkSpec
    from miai.networks.weights import check_weights, initial_weights, load_network, save_network

    path = folder / "network.safetensors"
    samples = []
    for head in ("policy", "value"):
        spec = NetworkSpec(head=head, board_size=5, planes=4, layers=2, filters=2, first_kernel=3, value_hidden=3)
        save_network(path, spec, initial_weights(spec, np.random.default_rng(0)), {"note": "x"})
        samples.append(path.read_bytes())

    def read(content: bytes) -> None:
        path.write_bytes(content)
        network = load_network(path)
        check_weights(network.spec, network.weights)

    return samples, read


def rollout_policies(folder: Path) -> Opened:
    from miai.networks.rollout_weights import load_rollout, save_rollout
    from miai.search.rollout_features import SECTIONS

    path = folder / "rollout.safetensors"
    save_rollout(path, np.zeros(sum(SECTIONS.values()), np.float32), {"games": 3})

    def read(content: bytes) -> None:
        path.write_bytes(content)
        load_rollout(path).policy()

    return [path.read_bytes()], read


def positions(folder: Path) -> Opened:
    from miai.alphago.value_data import ValueData

    path = folder / "positions.safetensors"
    data = ValueData(
        board_size=5,
        komi=5.5,
        start=np.array([0, 4, 9], np.int64),
        moves=np.array([0, 1, 2, 3, 4, 5, -1, 7, 8], np.int16),
        ply=np.array([2, 3], np.int32),
        winner=np.array([1, -1], np.int8),
        split=np.array([0, 1], np.uint8),
    )
    data.save(path, {"seed": 0})

    def read(content: bytes) -> None:
        path.unlink()
        path.write_bytes(content)
        games = ValueData.load(path).game_set()
        assert len(games) == len(ValueData.load(path).mover_results())

    return [path.read_bytes()], read


# ---- game records ----

SGF = (
    b"(;GM[1]FF[4]SZ[5]KM[5.5]HA[2]AB[bb][dd]RE[W+3.5]PB[A]PW[\xc3\x9f];W[cc];B[ba];W[];B[])",
    b"(;SZ[19]CA[gb18030]PB[x](;B[pd]C[a \\] b];W[dp](;B[pp])(;B[dd]))(;B[aa]))",
    b"(;SZ[9]AB[aa:cc]AE[bb]PL[W];W[ee])(;SZ[9:9];B[ee];W[tt])",
)


def records(folder: Path) -> Opened:
    from miai.records import parse_sgf
    from miai.records.play import finish_record
    from miai.records.record import RecordError

    def read(content: bytes) -> None:
        for record in parse_sgf(content, "x.sgf"):
            with suppress(RecordError):  # A move that the rules forbid.
                finish_record(record, komi=0.5)

    return list(SGF), read


def archives(folder: Path) -> Opened:
    """Archives of records; what is damaged in them is counted, and the rest is read."""
    from miai.records.reader import RecordReader

    samples = []
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for number, content in enumerate(SGF):
            archive.writestr(f"games/{number}.sgf", content)
    samples.append(packed.getvalue())
    for mode in ("w", "w:gz", "w:xz", "w:bz2"):
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode=mode) as tar:
            for number, content in enumerate(SGF):
                member = tarfile.TarInfo(f"games/{number}.sgf")
                member.size = len(content)
                tar.addfile(member, io.BytesIO(content))
        samples.append(packed.getvalue())

    def read(content: bytes) -> None:
        path = folder / ("games.zip" if content.startswith(b"PK") else "games.tar")
        path.write_bytes(content)
        reader = RecordReader(path)
        for _ in reader:
            pass
        assert all("\n" not in fault.reason for fault in reader.damaged)

    return samples, read


# ---- configuration ----


def stored_configs(folder: Path) -> Opened:
    """`config.yaml` of a run, as `miai reproduce` reads it."""
    import yaml

    from miai.runner.compose import compose_one
    from miai.runner.configured import job_of
    from miai.runner.stored_config import read_config

    path = folder / "config.yaml"
    commands = {"train": ["opponent=mixture"], "match": ["players=[random,uct@10]"], "tournament": []}
    samples = [yaml.safe_dump(compose_one(name, given), sort_keys=False).encode() for name, given in commands.items()]

    def read(content: bytes) -> None:
        path.write_bytes(content)
        job_of(read_config(path, "run x: its config.yaml"))

    return samples, read


def conf_files(folder: Path) -> Opened:
    """A YAML of the project's own `conf/`: a choice of a group, and a primary configuration."""
    from hydra import compose

    from miai.runner.compose import Composer, composing
    from miai.runner.configured import job_of

    choice = folder / "conf" / "algorithm" / "mine.yaml"
    choice.parent.mkdir(parents=True)
    session = composing("train")
    session.__enter__()
    sample = b"# Mine.\nname: mine\nentry: state_action   # what is learnt\ntarget: chosen\nn_step: 1\n"
    built_on = b"# Mine.\ndefaults:\n  - sarsa\n  - _self_\n\nname: mine\ntarget: best\n"

    def read(content: bytes, _session: object = session) -> None:
        choice.write_bytes(content)
        composer = Composer("train", lambda overrides: compose("train", overrides))  # One that knows no file yet.
        job_of(composer.compose(["algorithm=mine"]))

    return [sample, built_on], read


def studies(folder: Path) -> Opened:
    """A study of the project: its stages, their jobs' overrides, and its report."""
    from miai import project
    from miai.report.spec import ReportSpec
    from miai.runner.studies import expand, load_study_file

    path = folder / "experiments" / "mine.yaml"
    path.parent.mkdir()

    def read(content: bytes) -> None:
        path.write_bytes(content)
        study = load_study_file("mine")
        for stage in study.stages:
            expand(stage)
        ReportSpec.from_mapping(study.report, study.name)

    names = ("td_comparison", "alpha_sensitivity", "course", "tictactoe_ladder")
    return [(project.shipped_experiments() / f"{name}.yaml").read_bytes() for name in names], read


OVERRIDES = (
    b"alpha=0.2 algorithm=mc seed=range(3)",
    b"opponent=mixture schedule=linear num_games=1000 study='a-b' init=null",
    b"evaluation.opponent.name=random test.games=5 opponent=mixture opponent.parts.advanced.p=0.5",
    b"game=mnk game.rows=3 game.cols=4 game.k=3 seat=both opponent=self algorithm=sarsa,mc",
)


def overrides(folder: Path) -> Opened:
    """Overrides of a command line: taken apart, composed, and checked."""
    from miai.runner.compose import Composer, composing
    from miai.runner.configured import job_of
    from miai.runner.overrides import split_sweeps

    session = composing("train")
    composer: Composer = session.__enter__()  # For as long as `read` lives, which holds the session too.

    def read(content: bytes, _session: object = session) -> None:
        # A command line holds no NUL, and what is no UTF-8 comes as surrogates.
        words = content.replace(b"\0", b"").decode("utf-8", "surrogateescape").split(" ")
        swept = split_sweeps([word for word in words if word])
        job_of(composer.compose([values[0] for values in swept.values()]))

    return list(OVERRIDES), read


# ---- the Go Text Protocol ----

GTP = (
    b"boardsize 5\nclear_board\nkomi 5.5\nplay b C3\nplay w D4\ngenmove b\nundo\nshowboard\nfinal_score\n",
    b"1 name\n2 list_commands\n3 known_command play\n4 fixed_handicap 2\n5 set_free_handicap A1 B2\n6 genmove w\n",
    b"time_settings 60 10 5\ntime_left b 5 0\nreg_genmove b\nfinal_status_list alive\nplace_free_handicap 3\n",
    b"boardsize 4\nloadsgf x.sgf 2\nplay b pass\nplay w pass\nplay b A1\nundo\nundo\nversion\n# comment\n\nquit\n",
)


def gtp(folder: Path) -> Opened:
    from miai.gtp.engine import GtpEngine
    from miai.players import build_player

    (folder / "x.sgf").write_bytes(SGF[0])

    def read(content: bytes) -> None:
        engine = GtpEngine(lambda: build_player({"name": "random"}), np.random.default_rng(0), size=5)
        answers = io.BytesIO()
        engine.run(io.BytesIO(content), answers)
        text = answers.getvalue().decode()
        assert "internal error" not in text, text
        responses = text.split("\n\n")
        assert responses.pop() == "", text
        assert all(response[0] in "=?" for response in responses), text

    return list(GTP), read


# ---- what tracking keeps on disk ----


def kept_runs(folder: Path) -> Opened:
    """`run.json` of a run that waits for `miai sync`."""
    from dataclasses import asdict

    from miai.tracking import locate
    from miai.tracking.spool import ARTIFACTS, FOLDER, RUN_FILE, KeptRun, kept_runs

    location = locate("http://127.0.0.1:9", root=folder)
    home = location.mlruns / FOLDER / "abc"
    (home / ARTIFACTS).mkdir(parents=True)
    run = KeptRun(
        key="abc",
        uri=location.shown,
        run_id=None,
        experiment="study",
        name="sarsa-0",
        status="FINISHED",
        started=1_700_000_000_000,
        ended=1_700_000_001_000,
        params={"alpha": "0.1"},
        tags={"miai.fingerprint": "f"},
        rows=[(1_700_000_000_500, 1, {"eval/win": 0.5})],
        reason="away",
    )

    def read(content: bytes) -> None:
        (home / RUN_FILE).write_bytes(content)
        for record in kept_runs(location):
            assert record.started <= record.started
            assert all(np.isfinite(value) for value in record.metrics.values())

    return [json.dumps(asdict(run)).encode()], read


def histories(folder: Path) -> Opened:
    from miai.tracking.history import HISTORY_FILE, read_history, write_history

    path = folder / HISTORY_FILE
    write_history(path, [(step, {"eval/win": step / 9, "table/size": 3.0}) for step in range(50)])

    def read(content: bytes) -> None:
        path.write_bytes(content)
        read_history(path).to_pandas()

    return [path.read_bytes()], read


TARGETS = (
    Target("table", damage.ARCHIVE, tables),
    Target("checkpoint", damage.ARCHIVE, checkpoints),
    Target("unit", damage.JSON, units),
    Target("games", damage.TENSORS, game_sets),
    Target("network", damage.TENSORS, networks),
    Target("rollout", damage.TENSORS, rollout_policies),
    Target("positions", damage.TENSORS, positions),
    Target("sgf", damage.TEXT, records),
    Target("archive", damage.MUTATIONS, archives),
    Target("stored_config", damage.YAML, stored_configs),
    Target("conf", damage.YAML, conf_files),
    Target("study", damage.YAML, studies),
    Target("overrides", damage.TEXT, overrides),
    Target("gtp", damage.TEXT, gtp),
    Target("kept_run", damage.JSON, kept_runs),
    Target("history", damage.MUTATIONS, histories),
)


SLOW = ("conf", "overrides", "stored_config", "study", "gtp")
"""Targets that take milliseconds an input."""


def target(name: str) -> Target:
    """Find a target by its name; `MODULE:NAME` is one of another module."""
    module, colon, own = name.partition(":")
    if colon:
        found: Target = getattr(importlib.import_module(module), own)
        return found
    return next(target for target in TARGETS if target.name == name)


def clear(folder: Path) -> None:
    """Empty a target's folder."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
