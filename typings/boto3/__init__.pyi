"""The part of boto3 that Loadwatch uses; the package ships no types."""
