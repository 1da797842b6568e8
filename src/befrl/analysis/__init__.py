"""From runs to tables: statistics, aggregation, studies of components and published experiments."""
