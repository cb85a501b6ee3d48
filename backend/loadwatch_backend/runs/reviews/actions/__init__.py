"""Actions that a team decides on in a review, and how later runs of the scenario score them."""
