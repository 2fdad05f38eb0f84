"""Window functions over groups, each turned wrong; the attack on them must find every one."""

from __future__ import annotations

from tests.soundness.mutants import Mutant

_WINDOWS, _FRAMES, _RUNNING = "../answer/windows.py", "../answer/frames.py", "../answer/running.py"
WINDOW_MUTANTS = (
    Mutant("rows that tie are numbered", _WINDOWS, "if not ordered.is_total:", "if False:"),
    Mutant("rows that tie are no peers", _WINDOWS, "Frames(ordered, ordered.start, ordered.peers_end)", "rows_to_here(ordered)"),
    Mutant(
        "rank leaves no gaps", _WINDOWS, "return pa.array(rank + 1, pa.int32())", "return pa.array(np.minimum(rank, 1) + 1, pa.int32())"
    ),
    Mutant("partitions are overlooked", _FRAMES, "np.lexsort([*numbers[::-1], parts])", "np.lexsort([*numbers[::-1]])"),
    Mutant("lag reads the partition before", _WINDOWS, "is_there = (there >= ordered.start)", "is_there = (there >= 0)"),
    Mutant("the last tiles are wider", _WINDOWS, "behind = wider * (width + 1)", "behind = 0 * wider"),
    Mutant("frames leave their partitions", _FRAMES, "np.clip(moved, ordered.start, ordered.end)", "np.clip(moved, 0, len(moved))"),
    Mutant("a frame ends before its row", _FRAMES, "if is_range else here + is_end", "if is_range else here"),
    Mutant("sums of nothing are 0", _RUNNING, "pa.array(sums, pa.int64(), mask=none)", "pa.array(sums, pa.int64())"),
    Mutant("NULL is the least value of a frame", _RUNNING, "np.where(own < 0, 0, own + 1", "np.where(own < 0, count + 1, own + 1"),
    Mutant("the greatest of frames to the last", _RUNNING, "(last + 1 - frames.end) * many", "0 * frames.end"),
    Mutant("a share of another partition", _WINDOWS, "numbers[groups.num_rows :]", "np.sort(numbers[groups.num_rows :])"),
)
