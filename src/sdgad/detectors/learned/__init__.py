"""What detectors that learn by gradient share: options, scales, event vector, reader, examples, selection, state."""
