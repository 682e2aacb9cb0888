"""AddGraph: graph convolutions through time, attention over the last states, a gated unit, and a margin to negatives."""
