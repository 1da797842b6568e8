"""The components of an MDP of the family: spaces, features, laws of rewards and next states, and the constants."""
