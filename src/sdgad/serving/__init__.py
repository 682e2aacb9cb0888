"""In production: events come one by one, are answered at once, and a restart loses nothing."""
