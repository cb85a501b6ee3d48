"""The part of botocore that Loadwatch uses where its own source does not say the types; the package ships none."""
