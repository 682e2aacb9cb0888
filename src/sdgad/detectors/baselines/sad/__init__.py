"""SAD: subgraphs of both endpoints, a deviation network with a memory bank, and contrast between pseudo-labels."""
