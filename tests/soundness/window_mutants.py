"""Window functions over groups and below them, first rows and NOT IN of several columns, each turned wrong; their attacks must find it."""

from __future__ import annotations

from tests.soundness.mutants import Mutant

_ABOVE, _FUNCTION, _FRAMES = "../answer/windows.py", "../dataflow/window/function.py", "../dataflow/window/frames.py"
_RUNNING, _WHOLE, _BELOW = "../dataflow/window/running.py", "../dataflow/window/whole.py", "../dataflow/windowed.py"
_TOP, _ORDERED, _CONJUNCTIVE = "../dataflow/top.py", "../circuit/ordered.py", "../plan/conjunctive.py"
WINDOW_MUTANTS = (
    Mutant("rows that tie are numbered", _FUNCTION, "if not is_of_ties and not ordered.is_total:", "if False:"),
    Mutant("rows that tie are no peers", _FRAMES, "return peers if frame.is_range", "return here + more if frame.is_range"),
    Mutant("rank leaves no gaps", _FUNCTION, "pa.array(rank + 1, pa", "pa.array(np.minimum(rank, 1) + 1, pa"),
    Mutant("partitions are overlooked", _FRAMES, "np.lexsort([*numbers[::-1], parts])", "np.lexsort([*numbers[::-1]])"),
    Mutant("lag reads the partition before", _FUNCTION, "is_there = (there >= ordered.start)", "is_there = (there >= 0)"),
    Mutant("the last tiles are wider", _FUNCTION, "behind = wider * (width + 1)", "behind = 0 * wider"),
    Mutant("frames leave their partitions", _FRAMES, "more, ordered.start, ordered.end)", "more, 0, len(here))"),
    Mutant("a frame ends before its row", _FRAMES, "ordered.end, ordered.peers_end, 1)", "ordered.end, ordered.peers_end, 0)"),
    Mutant("sums of nothing are 0", _RUNNING, "pa.array(sums, pa.int64(), mask=none)", "pa.array(sums, pa.int64())"),
    Mutant("NULL is the least value of a frame", _RUNNING, "np.where(own < 0, 0, own + 1", "np.where(own < 0, count + 1, own + 1"),
    Mutant("the greatest of frames to the last", _RUNNING, "(last + 1 - frames.end) * many", "0 * frames.end"),
    Mutant("a share of another partition", _WHOLE, "+ count)[len(groups[0]) :]", "+ count)[: -len(groups[0]) or None]"),
    Mutant("rows of a partition are found by any column", _BELOW, "if key not in self.found_by:", "if False:"),
    Mutant("copies are one row of a window", _BELOW, "np.arange(len(zset.weights)), zset.weights)", "np.arange(len(zset.weights)), 1)"),
    Mutant("the first window parts the rows of all", _ORDERED, "if all(text in each for each in parts)", "if parts"),
    Mutant("no first rows are skipped below", _TOP, "places[self.skipped : self.skipped + self.count]", "places[: self.count]"),
    Mutant("what may be equal is no partner", _CONJUNCTIVE, "exp.or_(every.copy()", "exp.and_(every.copy()"),
)
