"""Networks, other ways to maintain recursive views, and a peer: what the workload ``recursion`` measures the driver against."""
