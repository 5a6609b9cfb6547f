"""`make audit`: are there known vulnerabilities in what the lock files pin?

    python requirements/audit.py [options of pip-audit, such as -s osv]

Exit codes: 0 none known; 1 some, which are listed; 2 not everything could be looked up. pip-audit itself says that no
vulnerability is known, and exits with 0, where its source of advisories knows none of the packages.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

LOCKS = Path(__file__).parent
SHOWN = 3


@dataclass
class Findings:
    """What was found in the lock files that have been looked at.

    Attributes:
        audited: packages with their versions, `name==version`.
        vulnerable: lines for people.
        skipped: why, by package or by file.
    """

    audited: set[str] = field(default_factory=set)
    vulnerable: list[str] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)


def audit(lock: Path, options: list[str], findings: Findings) -> None:
    """Look up what a lock file pins. Nothing is installed or resolved: the file says it all."""
    command = [sys.executable, "-m", "pip_audit", "--disable-pip", "--require-hashes", "--progress-spinner", "off"]
    command += ["--format", "json", "--requirement", str(lock), *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        packages = json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError, TypeError):
        last = next((line for line in reversed(done.stderr.splitlines()) if line.strip()), "it said nothing")
        findings.skipped[lock.name] = last.strip()[:300]
        return
    for package in packages:
        if "skip_reason" in package:
            findings.skipped[package["name"]] = package["skip_reason"]
            continue
        name = f"{package['name']}=={package['version']}"
        if name in findings.audited:
            continue
        findings.audited.add(name)
        for known in package["vulns"]:
            fixed = f"fixed in {', '.join(known['fix_versions'])}" if known["fix_versions"] else "not fixed yet"
            findings.vulnerable.append(f"{name}: {known['id']}, {fixed} ({lock.name})")


def main(options: list[str]) -> int:
    findings = Findings()
    for lock in sorted(LOCKS.glob("*.lock")):
        audit(lock, options, findings)
    for line in sorted(findings.vulnerable):
        print(line)
    for name, reason in sorted(findings.skipped.items())[:SHOWN]:
        print(f"not looked up: {name}: {reason}", file=sys.stderr)
    if len(findings.skipped) > SHOWN:
        print(f"not looked up: {len(findings.skipped) - SHOWN} more", file=sys.stderr)
    known = f"{len(findings.vulnerable)} known vulnerabilities in {len(findings.audited)} packages"
    if findings.skipped:
        print(f"make audit: incomplete: {known}; {len(findings.skipped)} could not be looked up.", file=sys.stderr)
        return 2
    print(f"make audit: {known}.")
    return 1 if findings.vulnerable else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
