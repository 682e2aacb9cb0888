"""The same verbs for a terminal: one small file per command, heavy imports only inside it."""
