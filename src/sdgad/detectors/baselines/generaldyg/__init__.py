"""GeneralDyG: the ego-graph of an event, edges as nodes of a line graph, and a transformer over them."""
