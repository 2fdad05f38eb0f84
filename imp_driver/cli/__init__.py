"""The command ``imp``: a demo and a small shell. It uses the public driver only."""
