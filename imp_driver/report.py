"""What a cursor reports of a statement (``Cursor.sketch_report``), and the codes in it."""

from imp_driver.reasons import Decision, DeltaSource, Reason, RecaptureReason, ServedBy
from imp_driver.values.refusal import Grounds
from imp_driver.values.report import SketchReport

__all__ = ["Decision", "DeltaSource", "Grounds", "Reason", "RecaptureReason", "ServedBy", "SketchReport"]
