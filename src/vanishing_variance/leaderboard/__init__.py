"""The leaderboard: attention maps, projections, learning-rate decay and normalisers, side by side."""
