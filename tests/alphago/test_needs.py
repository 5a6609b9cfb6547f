"""What is said where PyTorch is missing."""

from __future__ import annotations

import importlib.util

import pytest

from miai.alphago import needs_torch
from miai.errors import MiaiError


def test_a_missing_library_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MiaiError, match=r"sl_policy: PyTorch is not installed\. .* 'miai\[alphago\]'"):
        needs_torch("sl_policy")


def test_nothing_is_said_where_it_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object())
    needs_torch("sl_policy")
