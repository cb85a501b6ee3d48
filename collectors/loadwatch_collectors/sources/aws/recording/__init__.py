"""Records answers of AWS, without what must stay private, and replays them."""
