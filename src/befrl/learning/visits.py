"""The visits of one episode: tables on anchors are read at them, and what happens at them is summed onto anchors."""


class Visits:
    """n seeds, H visits each. Where features vary within cells both go by the Lagrange weights of the state."""

    def __init__(self, data, trajectory):
        self._data = data
        self.where, self.weights = data.places(trajectory)

    def read(self, table):
        """(n, N, A, p) -> (n, H, p)."""
        near = table.reshape(-1, table.shape[-1])[self.where]
        return near if self.weights is None else (near * self.weights[..., None]).sum(2)

    def total(self, values):
        """(n, H, ...) -> (n, N, A, ...)."""
        return self._data.total(self.where, self.weights, values)
