"""The recursive demo's picture in a terminal: each domain of the network with its unreachable pairs."""

from __future__ import annotations

from collections.abc import Mapping

from rich.align import Align
from rich.panel import Panel
from rich.table import Table

from imp_driver.cli.network import STUBS, TRANSIT_NODES, Network, name_of

_CUT_OFF = 0.5
"""Share of a domain's pairs from which on it is shown as cut off."""


def network_map(whole: Network, pairs: Mapping[int, int]) -> Table:
    """Draw the domains, each stub below its transit node.

    Args:
        pairs: unreachable ones by the number of the domain in which they begin.
    """
    others = len(whole.nodes) - 1
    table = Table.grid(padding=(0, 1))
    for _ in range(TRANSIT_NODES):
        table.add_column(width=16)
    panels = [_panel(number, pairs.get(number, 0), len(domain) * others) for number, domain in enumerate(whole.domains)]
    for row in range(STUBS):
        table.add_row(*(panels[1 + node * STUBS + row] for node in range(TRANSIT_NODES)))
    drawn = Table.grid()
    drawn.add_row(Align.center(panels[0], width=18))
    drawn.add_row(table)
    return drawn


def style_of(pairs: int, most: int) -> str:
    """Return the colour of a domain that has so many unreachable pairs of all that there could be."""
    return "green" if pairs == 0 else "bold red" if pairs > _CUT_OFF * most else "yellow"


def _panel(number: int, pairs: int, most: int) -> Panel:
    style = style_of(pairs, most)
    return Panel(Align.center(f"{pairs:,}" if pairs else "all up"), title=name_of(number), border_style=style, style=style)
