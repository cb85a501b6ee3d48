module loadwatch/bench/ingest_client

go 1.24
