"""Group states that outgrow the driver's memory: kept by ranges in a Delta table, changed by the engine's workers."""
