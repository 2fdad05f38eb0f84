"""Results as JSON, as a table to read, and as a picture where one is defined."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

Records = Sequence[Mapping[str, Any]]


def write(folder: Path, name: str, environment: Mapping[str, str], results: Mapping[str, Records]) -> None:
    """Write ``name``.json, .md and, with matplotlib, .png."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.json").write_text(json.dumps({"environment": environment, "results": results}, indent=1) + "\n", encoding="utf-8")
    (folder / f"{name}.md").write_text(_text(name, environment, results), encoding="utf-8")
    if importlib.util.find_spec("matplotlib") is not None:
        # It is not needed for anything but pictures, and takes its time to import.
        from benchmarks.pictures import draw

        draw(folder / f"{name}.png", results)


def _text(name: str, environment: Mapping[str, str], results: Mapping[str, Records]) -> str:
    lines = [f"# {name}", "", *(f"- {key}: {value}" for key, value in environment.items()), ""]
    for workload, records in results.items():
        if not records:
            continue
        columns = list(records[0])
        lines += [f"## {workload}", "", f"| {' | '.join(columns)} |", f"|{'---|' * len(columns)}"]
        lines += [f"| {' | '.join(str(record[column]) for column in columns)} |" for record in records]
        lines.append("")
    return "\n".join(lines)
