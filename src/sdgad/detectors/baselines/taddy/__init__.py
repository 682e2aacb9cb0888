"""TADDY: the nodes around an edge by diffusion, their ranks, distances and times as tokens, and a transformer."""
