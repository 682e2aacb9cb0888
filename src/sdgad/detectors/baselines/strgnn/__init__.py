"""StrGNN: enclosing subgraphs of an edge in the last snapshots, sort pooling, and a recurrent unit over the snapshots."""
