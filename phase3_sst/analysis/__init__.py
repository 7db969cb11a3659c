"""From the results of points to tables: projection, intervals, links, estimates."""
