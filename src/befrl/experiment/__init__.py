"""What a run is, and how it is made: the episode loop, seeds in lock step and run files."""
