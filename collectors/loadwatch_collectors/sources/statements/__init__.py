"""Counting statements of any database: sums that begin anew, and the series that are made of them."""
