"""What a study is: its config, checked before any work, and what its results depend on."""
