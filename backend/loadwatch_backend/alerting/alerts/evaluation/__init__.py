"""From samples to states: groups of rules, one tick after the other."""
