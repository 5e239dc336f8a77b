# SPDX-License-Identifier: Apache-2.0
"""The scripts with planted faults and the clean ones, and how findings agree with the marks in them (scripts/findings/README.md
beside this file says what the marks mean)."""
import dataclasses
import pathlib
import re

FOLDER = pathlib.Path(__file__).resolve().parent / "scripts/findings"


@dataclasses.dataclass
class Marks:
    path: pathlib.Path
    flags: list      # of `ullage rehearse`
    faults: dict     # rule -> lines that are right; empty where the finding has no line
    true: set        # rules that may speak beside
    ranks: int       # processes, one after the other; of a script that is recorded

    @property
    def name(self):
        return f"{self.path.parent.name}/{self.path.stem}"


def read_marks(path):
    text = path.read_text(encoding="utf-8")
    flags = re.search(r"^# rehearse: (.*)$", text, re.M)
    true = re.search(r"^# true: (.*)$", text, re.M)
    ranks = re.search(r"^# ranks: (\d+)$", text, re.M)
    faults = {}
    for number, line in enumerate(text.splitlines(), 1):
        for rule in re.findall(r"# fault: (\w+)", line):
            lines = faults.setdefault(rule, set())
            if not line.startswith("#"):
                lines.add(number)
    return Marks(path, flags[1].split() if flags else ["--gpu", "a100-40gb"], faults,
                 {name.strip() for name in true[1].split(",")} if true else set(), int(ranks[1]) if ranks else 1)


def recorded_scripts():
    """Those whose fault only a recording shows, or of which it shows another part."""
    return [read_marks(path) for path in sorted((FOLDER / "recorded").glob("*.py"))]


def all_scripts():
    """Those that are rehearsed."""
    return [read_marks(path) for kind in ("planted", "clean") for path in sorted((FOLDER / kind).glob("*.py"))]


def has_right_line(marks, finding):
    """Whether one of the finding's lines is one that the script marks for its rule."""
    lines = marks.faults[finding["id"]]
    if not lines:
        return True
    for text in (finding.get("line", ""), finding.get("called_from", "")):
        place = re.match(r"(.*):(\d+) ", text)
        if place and pathlib.Path(place[1]).name == marks.path.name and int(place[2]) in lines:
            return True
    return False


@dataclasses.dataclass
class Judgement:
    found: set       # planted rules that spoke, with the right line
    wrong_line: set
    missed: set
    beside: list     # findings that the script says are true
    false: list      # all others


def judge(marks, findings):
    spoke = {f["id"] for f in findings}
    found = {f["id"] for f in findings if f["id"] in marks.faults and has_right_line(marks, f)}
    others = [f for f in findings if f["id"] not in marks.faults]
    return Judgement(found, (spoke & set(marks.faults)) - found, set(marks.faults) - spoke,
                     [f for f in others if f["id"] in marks.true], [f for f in others if f["id"] not in marks.true])
