"""What `report --format latex` writes goes through pdflatex: each table and figure by itself, on A4 and in two columns,
with hostile names and with more rows than a page is long. No error, no warning, no box that is too wide, no float too
large. IEEEtran stands in for journals where it is installed."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

from support import skip, temporary_folder, write_report

COMPLAINTS = re.compile(r"^(!|Overfull|LaTeX Warning|Package \w+ Warning|LaTeX Font Warning|.*Float too large)", re.M)
CLASSES = {"A4": r"\documentclass[a4paper]{article}", "two columns": r"\documentclass[twocolumn]{article}",
           "IEEE": r"\documentclass{IEEEtran}"}


def found(name):
    return bool(subprocess.run(["kpsewhich", name], stdout=subprocess.PIPE).stdout.strip())


def compile_document(folder, name, runs=1):
    """pdflatex; ends with its complaints. Labels take a second run, unless the document has \\nofiles."""
    for _ in range(runs):
        result = subprocess.run(["pdflatex", "-interaction=nonstopmode", "-halt-on-error", name + ".tex"], cwd=folder,
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    log = (folder / (name + ".log")).read_text(errors="replace")
    lines = [line for line in log.splitlines() if COMPLAINTS.match(line)]
    if result.returncode != 0 or not (folder / (name + ".pdf")).exists() or lines:
        sys.exit(f"{name}: {lines}\n{log[-2500:]}")


def floats(folder):
    own = {"report.tex", "preamble.tex", "numbers.tex"}
    return sorted(path.name for path in folder.glob("*.tex") if path.name not in own)


def check(folder, what):
    files = floats(folder)
    kinds = {name.split("-")[0] for name in files}
    assert {"ranking", "solved", "times", "performance", "data"} <= kinds, files
    compile_document(folder, "report", runs=2)
    for label, head in CLASSES.items():
        if label == "IEEE" and not found("IEEEtran.cls"):
            print("IEEEtran is not installed: two columns of class article stand in for it")
            continue
        body = "\n".join(rf"\input{{{name[:-4]}}}\clearpage" for name in files)
        (folder / "all.tex").write_text(head + "\n\\input{preamble}\n\\nofiles\n\\begin{document}\nText.\n" + body +
                                        "\n\\end{document}\n")
        compile_document(folder, "all")
    for name in files[:2]:  # by itself, from another folder, with what its head asks for
        (folder.parent / "alone.tex").write_text(
            "\\documentclass{article}\n\\input{latex/preamble}\n\\nofiles\n\\begin{document}\n"
            f"\\input{{latex/{name[:-4]}}}\n\\end{{document}}\n")
        compile_document(folder.parent, "alone")
    macros = (folder / "numbers.tex").read_text()
    names = re.findall(r"\\newcommand\{\\(cb[A-Za-z]+)\}", macros)
    assert len(names) == macros.count("\\newcommand") == len(set(names)) > 10, "every macro has a name of letters"
    (folder / "text.tex").write_text("\\documentclass{article}\n\\input{preamble}\n\\input{numbers}\n\\nofiles\n\\begin{document}\n"
                                     + "\n\n".join("\\" + name for name in names) + "\n\\end{document}\n")
    compile_document(folder, "text")
    print(f"{what}: {len(files)} files compiled, {len(names)} macros")


if not shutil.which("pdflatex"):
    skip("pdflatex is not installed")
if not found("siunitx.sty") or not found("pgfplots.sty"):
    skip("siunitx or pgfplots is not installed")
for what in ("small", 56, "wide"):
    with temporary_folder() as name:
        check(Path(write_report(what, name)) / "latex", what)
