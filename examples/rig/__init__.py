"""A system under load and Loadwatch beside it, put together by the demo, the scenarios and a benchmark."""
