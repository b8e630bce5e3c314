#!/usr/bin/env python3
"""Counts the skipped tests of a run of ctest, by reason.
usage: count_skips.py RESULTS [EXPECTED]      1: a test was skipped for a reason that EXPECTED does not list
RESULTS: written by ctest --output-junit. EXPECTED: a reason a line; # begins a comment."""
import collections, pathlib, re, sys
import xml.etree.ElementTree as ElementTree


def reason(output):
    """The first line after GTEST_SKIP(), else the last line of what a script printed before it ended with 77."""
    reported = re.search(r": Skipped\n(.*)", output)
    if reported:
        line = reported[1]
    else:
        lines = output.strip().splitlines()
        line = lines[-1] if lines and "[  SKIPPED ]" not in output else ""
    return line.strip().removeprefix("skipped: ") or "no reason given"


def skipped(results):
    """Names of tests by reason. One that could not start has another message, and is a failure of ctest's."""
    tests = collections.defaultdict(list)
    for case in ElementTree.parse(results).iter("testcase"):
        mark = case.find("skipped")
        if mark is not None and mark.get("message", "").startswith("SKIP_"):
            tests[reason(case.findtext("system-out", ""))].append(case.get("name"))
    return tests


tests = skipped(sys.argv[1])
if not tests:
    sys.exit(0)
print(f"\nSkipped tests: {sum(map(len, tests.values()))}")
for why, names in sorted(tests.items(), key=lambda one: (-len(one[1]), one[0])):
    print(f"{len(names):5}  {why}")
if len(sys.argv) == 2:
    sys.exit(0)
lines = (line.split("#")[0].strip() for line in pathlib.Path(sys.argv[2]).read_text().splitlines())
unexpected = sorted(set(tests) - set(filter(None, lines)))
for why in unexpected:
    print(f"FAILED: {sys.argv[2]} lists no skip for '{why}' ({tests[why][0]})")
sys.exit(1 if unexpected else 0)
