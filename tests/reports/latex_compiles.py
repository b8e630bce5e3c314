"""report.tex goes through pdflatex, with hostile names in it."""

import shutil
import subprocess
import sys

from support import skip, temporary_folder, write_report

if not shutil.which("pdflatex"):
    skip("pdflatex is not installed")
for what in ("small", 56):
    with temporary_folder() as name:
        folder = write_report(what, name)
        result = subprocess.run(["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "report.tex"], cwd=folder,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        log = result.stdout.decode(errors="replace")
        if result.returncode != 0 or not (folder / "report.pdf").exists():
            sys.exit(log[-3000:])
        print(f"{what}: compiled")
