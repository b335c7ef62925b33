"""Runs cases against the daemon of DYN_URL and tells what came of each.

A case is a function; it raises when something is not as it has to be. Each
gives a line on standard output, and one of JSON in the file RESULTS. The
program ends with 1 when a case failed.
"""

import json
import os
import sys
import time
import traceback

URL = os.environ["DYN_URL"]
CITIES = ["Lyon", "Metz"]


def same(got, want, what):
    if got != want:
        raise AssertionError(f"{what}: want {want!r}, got {got!r}")


def holds(condition, what):
    if not condition:
        raise AssertionError(what)


def refused(call, error, *words):
    """Expects an error of this type whose text has the words."""
    try:
        got = call()
    except error as e:
        for w in words:
            holds(w in str(e), f"the error does not say {w!r}: {e}")
        return e
    raise AssertionError(f"no {error.__name__}, but {got!r}")


def run(subject, version, cases):
    failed = 0
    for name, case in cases.items():
        state, note, began = "ok", "", time.monotonic()
        try:
            note = case() or ""
        except Exception as e:  # a case may raise whatever its library does
            failed += 1
            state, note = "FAILED", f"{type(e).__name__}: {e}"
            traceback.print_exc()
        line = {"subject": subject, "version": version, "case": name, "state": state, "note": note,
                "seconds": time.monotonic() - began}
        print(f"{state}: {subject} {version}, {name}: {note}", flush=True)
        if os.environ.get("RESULTS"):
            with open(os.environ["RESULTS"], "a") as f:
                f.write(json.dumps(line) + "\n")
    sys.exit(1 if failed else 0)
