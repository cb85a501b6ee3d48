"""The relational database: connection, migrations, outages, leadership, what is set aside."""
