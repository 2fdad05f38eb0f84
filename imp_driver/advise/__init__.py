"""Which clustering would make which of the recorded queries fast."""
