"""The figures, one file each: `data(...)` makes the tidy frame that is drawn, `draw(data)` the figure."""
