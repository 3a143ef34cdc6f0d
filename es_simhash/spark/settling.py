"""Computing a DataFrame once and for all."""

from __future__ import annotations

from pyspark.sql import DataFrame


def settled(frame: DataFrame) -> DataFrame:
    """The frame, computed now and cut off from how it was made; Spark lets go of it when nobody holds it any more.

    Were it computed once more, numbers that it gave to documents could be others. So what is lost with a machine makes
    the run fail, unless the context has a directory for checkpoints, where it survives.
    """
    has_directory = frame.sparkSession.sparkContext.getCheckpointDir() is not None
    return frame.checkpoint() if has_directory else frame.localCheckpoint()
