#!/usr/bin/env python3
"""Usage: scripts/count_constants.py FOLDER… [--list] [--most N]
Counts the tuned constants in C++ sources: every number in an expression but 0, 1, 2 and 1/2.

What the shape of data fixes is no constant: the 3 components of a contact and their 9 and 4 (a block's entries, a register's lanes), subscripts, template
arguments, switch cases, and bounds of options (.minimum, .maximum); in constants.hpp every number counts. --list prints each with its place. --most N: exit 1
where there are more.
"""
import argparse
import pathlib
import re
import sys

NUMBER = re.compile(r"(?<![\w.'])(?:\d[\d']*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?:[uUlLfF]*)(?![\w.])")
FREE = {0.0, 0.5, 1.0, 2.0}
SHAPE = {3.0, 4.0, 9.0}  # integers only: components, entries, lanes


def without_texts(source):
    """The source with comments and strings blanked, line by line as it was."""
    blank = lambda match: re.sub(r"[^\n]", " ", match.group())
    return re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'(?!\d)', blank, source, flags=re.S)


def constants(text, free_shape=True):
    """(line, number, what stands around it) of each."""
    code = re.sub(r"^\s*#.*$", lambda match: " " * len(match.group()), without_texts(text), flags=re.M)
    for match in NUMBER.finditer(code):
        word = match.group().rstrip("uUlLfF").replace("'", "")
        before, after = code[: match.start()].rstrip(), code[match.end() :].lstrip()
        value = float(word)
        whole = re.fullmatch(r"\d+", word) is not None
        if value in FREE or (free_shape and whole and value in SHAPE):
            continue
        if whole and (before.endswith("[") or before.endswith("case") or (before.endswith("<") and after.startswith(">"))):
            continue
        if re.search(r"\.(minimum|maximum)\s*=\s*-?$", before):
            continue
        line = code.count("\n", 0, match.start()) + 1
        yield line, word, text.splitlines()[line - 1].strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="+", type=pathlib.Path)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--most", type=int)
    arguments = parser.parse_args()
    count = 0
    for folder in arguments.folder:
        for file in sorted(folder.glob("*.[ch]pp")):
            for line, number, context in constants(file.read_text(encoding="utf-8"), file.name != "constants.hpp"):
                count += 1
                if arguments.list:
                    print(f"{file}:{line}: {number}\t{context}")
    print(f"{count} constants")
    if arguments.most is not None and count > arguments.most:
        sys.exit(f"at most {arguments.most} are allowed")


if __name__ == "__main__":
    main()
