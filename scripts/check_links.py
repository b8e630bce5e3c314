#!/usr/bin/env python3
"""Checks the documents: a link with an anchor leads to a heading, and a page of docs says at its top of which kind it is."""
import argparse
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
KIND = re.compile(r"\*(Tutorial|How-to|Reference)\.\* |\*Experiment[,.]|(Generated|Written) by `")


def lines(page):
    """Lines outside of fenced code."""
    code = False
    for line in page.read_text(encoding="utf-8").splitlines():
        if line.lstrip().startswith("```"):
            code = not code
        yield "" if code else line.lstrip()


def anchor(heading):
    """As GitHub makes it: letters, digits, - and _ stay, in lower case, blanks become hyphens."""
    return "".join("-" if c == " " else c.lower() for c in heading if c.isalnum() or c in " -_")


def anchors(page):
    found = set()
    for line in lines(page):
        heading = re.match(r"#+ (.*)", line)
        if heading:
            first = name = anchor(heading[1])
            again = 0
            while name in found:
                again += 1
                name = f"{first}-{again}"
            found.add(name)
    return found


def main():
    argparse.ArgumentParser(description=__doc__).parse_args()
    faults = [] if anchor("Gauss–Seidel's λ × 2_b") == "gaussseidels-λ--2_b" else ["anchors are not those of GitHub"]
    pages = [p for p in ROOT.rglob("*.md")
             if not {"node_modules", "build", "snapshots", ".git"} & set(p.relative_to(ROOT).parts)]
    checked = 0
    for page in pages:
        for number, line in enumerate(lines(page), 1):
            for target, name in re.findall(r"\]\(([^)#:\s]*)#([^)]+)\)", line):
                file = (page.parent / target).resolve() if target else page
                checked += 1
                if file.suffix == ".md" and (not file.exists() or name not in anchors(file)):
                    faults.append(f"{page.relative_to(ROOT)}:{number}: {target} has no heading for #{name}")
        if page.is_relative_to(ROOT / "docs") and page != ROOT / "docs" / "README.md":
            if not any(KIND.match(line) for line in list(lines(page))[:6]):
                faults.append(f"{page.relative_to(ROOT)} does not say its kind: *Tutorial.*, *How-to.*, *Reference.* or "
                              "*Experiment, date*")
    if checked < 30:
        faults.append(f"only {checked} links with anchors were found")
    sys.exit("\n".join(faults) or 0)


main()
