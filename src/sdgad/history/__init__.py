"""What came before: for every event the recent past of its two endpoints, and context features."""
