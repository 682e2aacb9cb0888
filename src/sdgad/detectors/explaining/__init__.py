"""Explanations: of an event's score, the evidence, and the habits that it breaks, in words with the numbers."""
