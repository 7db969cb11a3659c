"""Turns the results of points into tables: projection, intervals, links, estimates."""
