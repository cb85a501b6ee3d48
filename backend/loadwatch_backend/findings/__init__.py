"""What ran out first, and what to do: findings with evidence, of a run and of the present."""
