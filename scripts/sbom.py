#!/usr/bin/env python3
"""Usage: scripts/sbom.py PACKAGE >PACKAGE.spdx.json | --table >docs/licenses.md | --check
What is in a package of scripts/package.sh (tarball, .deb, wheel), under which licences, as SPDX 2.3: the libraries that it
carries, what is compiled in and, of a .deb, what it depends on. Versions are those of this machine, which made it.
--table: the page of licences. --check: each component's licence is what the copyright file of its Debian package says,
where that is installed, and docs/licenses.md is the page.
All of it comes from scripts/components.json. A library that has no entry there, or one whose licence would cover the whole
package, is an error. Exit code: 0; 1 with an error; 2 wrong usage."""
import datetime, fnmatch, hashlib, io, json, os, pathlib, re, subprocess, sys, tarfile, zipfile

root = pathlib.Path(__file__).resolve().parent.parent
# auditwheel's libhdf5_serial-1a2b3c4d.so.103.3.0
HASHED = re.compile(r"-[0-9a-f]{8}(?=\.so)")
LIBRARY = re.compile(r"(?:.*/)?(lib[^/]*\.so[^/]*)")


def fail(text):
    sys.exit(f"scripts/sbom.py: {text}")


def load():
    return json.loads((root / "scripts/components.json").read_text())


def options(license):
    """Licences of which one may be chosen."""
    return license.split(" OR ")


def term_of(facts, license):
    """The mildest kind of terms that may be chosen."""
    for kind, terms in facts["terms"].items():
        if any(one in terms["licenses"] for one in options(license)):
            return kind
    fail(f"scripts/components.json: '{license}' is in no list of terms")


def component_of_library(facts, file):
    name = HASHED.sub("", file)
    for one in facts["components"]:
        if any(fnmatch.fnmatch(name, pattern) for pattern in one.get("libraries", [])):
            return one
    fail(f"{file}: no component of scripts/components.json has it")


def component_of_package(facts, package):
    for one in facts["components"]:
        if any(fnmatch.fnmatch(package, pattern) for pattern in one.get("packages", [])):
            return one
    fail(f"{package}: no component of scripts/components.json has this package")


def installed(component):
    """Debian packages of it on this machine: (name, version, source, version of the source)."""
    if not component.get("packages"):
        return []
    form = "${db:Status-Abbrev}\t${Package}\t${Version}\t${source:Package}\t${source:Version}\n"
    asked = subprocess.run(["dpkg-query", "-W", "-f", form, *component["packages"]], capture_output=True, text=True)
    rows = [line.split("\t") for line in asked.stdout.splitlines()]
    return [tuple(row[1:]) for row in rows if row[0].startswith("ii")]


def members(package):
    """(name, bytes) of the files in it, and the packages that a .deb depends on."""
    name = package.name
    if name.endswith(".whl"):
        with zipfile.ZipFile(package) as archive:
            return [(one, archive.read(one)) for one in archive.namelist() if not one.endswith("/")], []
    if name.endswith(".tar.gz"):
        with tarfile.open(package) as archive:
            return [(one.name, archive.extractfile(one).read()) for one in archive if one.isfile()], []
    if name.endswith(".deb"):
        unpacked = subprocess.run(["dpkg-deb", "--fsys-tarfile", package], capture_output=True, check=True).stdout
        with tarfile.open(fileobj=io.BytesIO(unpacked)) as archive:
            files = [(one.name, archive.extractfile(one).read()) for one in archive if one.isfile()]
        field = subprocess.run(["dpkg-deb", "--field", package, "Depends"], capture_output=True, text=True, check=True).stdout
        return files, [re.split(r"[ :(|]", one.strip())[0] for one in field.split(",")]
    fail(f"{name}: no tarball, .deb or wheel")


def version_in(package):
    found = re.search(r"conebench[-_](\d+(?:\.\d+)+)", package.name)
    return found[1] if found else fail(f"{package.name}: no version in the name")


def locked_version(name):
    if name == "Plotly.js":
        lock = json.loads((root / "reports/page/package-lock.json").read_text())
        return next(one["version"] for path, one in lock["packages"].items() if "plotly" in path)
    return re.search(r"==([0-9.]+)", (root / "scripts/mujoco-requirements.txt").read_text())[1]


def id_of(name):
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.]+", "-", name).strip("-")


def sbom(facts, package):
    files, depends = members(package)
    carried, used = {}, {}
    for name, content in files:
        library = LIBRARY.fullmatch(name)
        if library:
            component = component_of_library(facts, library[1])
            carried[name] = (component, content)
            used[component["name"]] = component
    is_wheel = package.name.endswith(".whl")
    for component in facts["components"]:
        if component["role"] == "compiled" and (is_wheel or component["name"] != "pybind11"):
            used[component["name"]] = component
    needed = {one["name"]: one for one in (component_of_package(facts, name) for name in depends if name != "libc6")}
    refused = [name for name, one in used.items() if term_of(facts, one["license"]) == "copyleft of the whole"]
    if refused:
        fail(f"{package.name} may not be shipped with {', '.join(refused)}: the whole would be under its licence")

    digest = hashlib.sha256(package.read_bytes()).hexdigest()
    seconds = int(os.environ.get("SOURCE_DATE_EPOCH", package.stat().st_mtime))
    created = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    main = {"SPDXID": "SPDXRef-Package", "name": "conebench", "versionInfo": version_in(package),
            "packageFileName": package.name, "checksums": [{"algorithm": "SHA256", "checksumValue": digest}],
            "downloadLocation": "NOASSERTION", "filesAnalyzed": False, "licenseConcluded": "Apache-2.0",
            "licenseDeclared": "Apache-2.0", "copyrightText": "The Conebench authors", "primaryPackagePurpose": "APPLICATION"}
    packages, documents, relations = [main], [], [("SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-Package")]
    for name, one in sorted({**used, **needed}.items()):
        entry = {"SPDXID": id_of(name), "name": name, "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
                 "licenseConcluded": one["license"], "licenseDeclared": one["license"], "copyrightText": "NOASSERTION"}
        if one.get("note"):
            entry["licenseComments"] = one["note"]
        found = installed(one)
        if found:
            entry["versionInfo"] = found[0][1]
            entry["sourceInfo"] = "; ".join(sorted({f"Debian source package {row[2]} {row[3]}" for row in found}))
            entry["externalRefs"] = [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                                      "referenceLocator": f"pkg:deb/debian/{row[0]}@{row[1].replace('+', '%2B')}"}
                                     for row in sorted(found)]
        elif name in ("Plotly.js", "MuJoCo"):
            entry["versionInfo"] = locked_version(name)
        packages.append(entry)
        relations.append(("SPDXRef-Package", "CONTAINS" if name in used else "DEPENDS_ON", id_of(name)))
    for name, (component, content) in sorted(carried.items()):
        sums = [{"algorithm": kind, "checksumValue": hashlib.new(kind.lower(), content).hexdigest()}
                for kind in ("SHA1", "SHA256")]
        documents.append({"SPDXID": id_of("File " + name), "fileName": "./" + name.removeprefix("./"), "checksums": sums,
                          "licenseConcluded": component["license"], "copyrightText": "NOASSERTION"})
        relations.append((id_of("File " + name), "GENERATED_FROM", id_of(component["name"])))
    texts = {name: text for name, text in facts["texts"].items()
             if any(name in one["licenseConcluded"] for one in packages)}
    return {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": package.name,
            "documentNamespace": f"https://conebench.invalid/spdx/{package.name}-{digest[:16]}",
            "creationInfo": {"created": created, "creators": ["Tool: conebench-sbom"]},
            "packages": packages, "files": documents,
            "relationships": [{"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other}
                              for one, kind, other in relations],
            "hasExtractedLicensingInfos": [{"licenseId": name, "extractedText": text} for name, text in texts.items()]}


def table(facts):
    lines = ["# Licences", "",
             "*Reference.* Generated by `scripts/sbom.py --table` from `scripts/components.json`. Conebench itself is under the Apache "
             "License 2.0.", "",
             "The licences are those that Debian 12's copyright files state; `scripts/sbom.py --check` compares, and is a test. This is "
             "what the texts say, not advice of a lawyer.", "", "## What may be shipped together", "",
             "A package of `scripts/release.sh` has an SBOM (SPDX 2.3) with the version, licence, source package and SHA-256 of all that "
             "it carries, and the licence texts: the tarball in `share/licenses`, the wheel in `conebench/share/licenses`. The script "
             "makes no SBOM for a package with a library that is not on this page, or that has a copyleft of the whole.", "",
             "| terms | what shipping it asks | licences |", "| --- | --- | --- |"]
    for kind, terms in facts["terms"].items():
        shown = ", ".join(one.removeprefix("LicenseRef-") for one in terms["licenses"])
        lines.append(f"| {kind} | {terms['asks']} | {shown} |")
    lines += ["",
              "- **Tarball, wheel**: all of the first three tables below, as files of their own, so that LGPL's libraries can be replaced. "
              "Of a licence with `OR`, the one without a copyleft of the whole is taken.",
              "- **Tarball with peers**: Siconos, Ipopt and what they need, too. They have no copyleft of the whole: Debian's Siconos is built without "
              "UMFPACK and CHOLMOD's supernodal module, which are GPL.",
              "- **Debian package**: links to the system's libraries and carries MuJoCo alone.",
              "- MUMPS and SCOTCH are CeCILL-C, which is a copyleft of their files: fine beside EPL-1.0 and Apache-2.0.",
              "- A GPL library can't be added: EPL-1.0 (CLP, Ipopt) and the GPL exclude each other in one program."]
    for role, title in facts["roles"].items():
        lines += ["", f"## {title}", "", "| what | licence | for | Debian package, or source | note |", "| --- | --- | --- | --- | --- |"]
        for one in facts["components"]:
            if one["role"] == role:
                packages = ", ".join(one.get("packages", [])) or one.get("origin", "")
                packages = packages.replace("*", "\\*")
                license = one["license"].removeprefix("LicenseRef-")
                lines.append(f"| {one['name']} | {license} | {one['use']} | {packages} | {one.get('note') or ''} |".replace("|  |", "| |"))
    return "\n".join(lines) + "\n"


def check(facts):
    wrong, checked = [], 0
    for one in facts["components"]:
        term_of(facts, one["license"])
        for name, *_ in installed(one):
            if "evidence" not in one:
                continue
            copyright = pathlib.Path("/usr/share/doc", name, "copyright")
            checked += 1
            said = re.sub(r"[ \t]+", " ", copyright.read_text(errors="replace")) if copyright.exists() else ""
            if one["evidence"] not in said:
                wrong.append(f"{copyright} does not say '{one['evidence']}', for which {one['name']} is {one['license']}")
    if (root / "docs/licenses.md").read_text() != table(facts):
        wrong.append("docs/licenses.md is out of date: run scripts/update_docs.sh")
    print(f"{checked} copyright files checked")
    if wrong:
        fail("\n".join(wrong))


def main():
    words = sys.argv[1:]
    if len(words) != 1:
        print("scripts/sbom.py: needs one argument; see scripts/sbom.py --help", file=sys.stderr)
        return 2
    if words[0] in ("-h", "--help"):
        print(__doc__)
    elif words[0] == "--table":
        print(table(load()), end="")
    elif words[0] == "--check":
        check(load())
    else:
        package = pathlib.Path(words[0])
        if not package.is_file():
            fail(f"{package}: no such file")
        print(json.dumps(sbom(load(), package), indent=1, ensure_ascii=False))
    return 0


if __name__ == "__main__":
    sys.exit(main())
