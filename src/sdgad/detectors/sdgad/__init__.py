"""SDGAD: residual → restriction → density → boundary, and the centre of known anomalies."""
