"""What an MDP of the family is: spaces, features, reward laws, next-state laws and the constants of the theory."""
