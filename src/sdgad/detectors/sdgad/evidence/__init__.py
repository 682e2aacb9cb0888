"""Kinds of evidence: each tells, in a unit of its own that all share, how anomalous an event is."""
