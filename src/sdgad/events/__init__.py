"""What happened: streams of interaction events, where they come from and how they are cut."""
