"""Results as JSON, as a table to read, and as a picture."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

Records = Sequence[Mapping[str, Any]]


def write(folder: Path, name: str, environment: Mapping[str, str], results: Mapping[str, Records]) -> None:
    """Write ``name``.json, .md and .png."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.json").write_text(json.dumps({"environment": environment, "results": results}, indent=1) + "\n", encoding="utf-8")
    (folder / f"{name}.md").write_text(_text(name, environment, results), encoding="utf-8")
    if results.get("mixes"):
        _draw(folder / f"{name}.png", results["mixes"])


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


def _draw(picture: Path, records: Records) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    aggregates = list(dict.fromkeys(record["aggregates"] for record in records))
    figure, panels = pyplot.subplots(len(aggregates), 1, figsize=(11, 3.2 * len(aggregates)), squeeze=False)
    for panel, number in zip(panels[:, 0], aggregates, strict=True):
        chosen = [record for record in records if record["aggregates"] == number]
        for place, (system, colour) in enumerate((("NS", "0.6"), ("FM", "tab:orange"), ("IMP", "tab:blue"))):
            heights = [record[system] for record in chosen]
            panel.bar([index + 0.27 * (place - 1) for index in range(len(chosen))], heights, 0.25, label=system, color=colour)
        panel.set_xticks(range(len(chosen)), [f"{record['mix']}\n{record['delta']}" for record in chosen])
        panel.set(ylabel="seconds of queries", title=f"HAVING on {number} aggregate(s); mix and rows per update below")
        panel.legend()
    figure.tight_layout()
    figure.savefig(picture, dpi=110)
    pyplot.close(figure)
