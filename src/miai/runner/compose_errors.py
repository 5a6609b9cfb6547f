"""What Hydra, OmegaConf and PyYAML complain of, in one line: what, where, and what is allowed."""

from __future__ import annotations

import errno
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

import yaml
from hydra.errors import HydraException, MissingConfigException, OverrideParseException
from omegaconf.errors import MissingMandatoryValue, OmegaConfBaseException

from miai.errors import MiaiError, choose, nearest
from miai.runner.options import STUDIES, choice_names, conf_folders, primary
from miai.runner.overrides import unreadable


@contextmanager
def one_line_errors(config_name: str) -> Iterator[None]:
    """Turn what is raised while `conf/<config_name>.yaml` is being composed into a `MiaiError`."""
    try:
        yield
    except yaml.YAMLError as error:
        raise MiaiError(explain_yaml(error)) from error
    except (HydraException, OmegaConfBaseException, ValueError, RecursionError) as error:
        raise MiaiError(_explain(error, config_name)) from error
    except (OSError, AssertionError) as error:
        number = getattr(error, "errno", None)
        if number == errno.ENAMETOOLONG:
            raise MiaiError(f"{config_name}: a name is too long to be one of a choice.") from error
        if number is not None:
            raise
        raise MiaiError(f"{_file_without_keys()}: expected keys with values.") from error  # OmegaConf's words for it.


def explain_yaml(error: yaml.YAMLError) -> str:
    """Say where a file is no YAML, and why."""
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or " ".join(str(error).split())
    where = f"{mark.name}, line {mark.line + 1}: " if mark is not None else ""
    return f"{where}not YAML: {problem}."


def _explain(error: Exception, config_name: str) -> str:
    if isinstance(error, UnicodeDecodeError):
        return f"{_file_with(error.object)}: not YAML: it is not written in UTF-8."
    if isinstance(error, OverrideParseException):
        return str(unreadable(error.override))
    if isinstance(error, MissingConfigException) and error.missing_cfg_file:
        return _missing_file(error.missing_cfg_file, error.options)
    text = _first_line(error)
    root = list(_chain(error))[-1]
    key = next((found for cause in _chain(error) if (found := getattr(cause, "full_key", None))), None)
    if found := re.match(r"You must specify '([^']+)'", text):
        return f"{found[1]}: a choice is needed; allowed: {', '.join(choice_names(found[1].partition('@')[0]))}."
    if found := re.match(r"Ambiguous value for argument '([^=]+)=(.*)'", text):
        return f"{found[1]}: {found[2]} is a list of values; add -m to make a run of each."
    if found := re.match(r"Could not override '([^']+)'", text):
        return _not_overridden(found[1], root, config_name)
    if found := re.match(r"Config group override must be a string or a list", text):
        return "a group needs the name of a choice, or a list of names."
    if isinstance(root, MissingMandatoryValue):
        return f"{key}: a value is needed."
    if found := re.match(r"Error merging override ([^=]+)=", text):
        return f"{found[1]}: {_first_line(root).rstrip('.')}."
    return f"{key}: {_first_line(root).rstrip('.')}." if key else f"{text.rstrip('.')}."


def _file_with(content: bytes) -> str:
    """Find the file of `conf/` that has this content."""
    files = (file for folder in conf_folders() for file in folder.rglob("*.yaml"))
    return next((str(file) for file in files if file.read_bytes().startswith(content)), "conf")


def _file_without_keys() -> str:
    """Find the file of `conf/` that holds something else than keys with values."""
    for folder in conf_folders():
        for file in sorted(folder.rglob("*.yaml")):
            with suppress(yaml.YAMLError, ValueError, OSError, RecursionError):
                if not isinstance(yaml.safe_load(file.read_bytes()) or {}, dict):
                    return str(file)
    return "conf"


def _missing_file(name: str, options: Sequence[str] | None) -> str:
    """Explain that a choice of a group does not exist, or a whole configuration."""
    group, _, choice = name.rpartition("/")
    names = options or choice_names(group)
    if not names:
        return f"{group or name}: there is no such group of choices."
    try:
        choose(choice, names, group or "config-name")
    except MiaiError as error:
        return str(error)
    return f"conf/{name}.yaml cannot be read."


def _not_overridden(key: str, root: BaseException, config_name: str) -> str:
    names = primary(config_name).names()
    if key == STUDIES:
        return f"{key}: a study is added, so write it with a plus: +{key}=…."
    if key in names:
        return f"{key}: {_first_line(root).rstrip('.')}."
    related = [name for name in names if key.split(".")[0] in (name, name.partition(".")[0])]
    what = "as things are chosen" if related and "." in key else ""
    return f"{key}: there is no such option{' ' + what if what else ''}.{nearest(key, names)} See --help."


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _first_line(error: BaseException) -> str:
    return next((line.strip() for line in str(error).splitlines() if line.strip()), "")
