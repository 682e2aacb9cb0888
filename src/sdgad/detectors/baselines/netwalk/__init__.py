"""NetWalk: embeddings of nodes from walks, learned on as the stream goes by, and clusters of edges."""
