"""Probes (facts only) -> checks (one a file) -> Diagnosis. Nothing here imports torch; `deep` runs it in a child."""
