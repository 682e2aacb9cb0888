"""What the scores were worth: reports and figures, and the experiments behind the paper's tables."""
