"""What is asked of PostgreSQL; `{schema}` is where the extension is."""

from loadwatch_collectors.sources.statements.counts import MOST_KNOWN

SELECT_STATE = """
    SELECT current_setting('server_version_num')::int, current_setting('pg_stat_statements.max', true),
           current_setting('pg_stat_statements.track', true),
           (SELECT quote_ident(nspname) FROM pg_catalog.pg_extension e
              JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace WHERE extname = 'pg_stat_statements'),
           pg_catalog.pg_has_role(current_user, 'pg_read_all_stats', 'usage')
"""
SELECT_SUMS = f"""
    SELECT d.datname, s.queryid::text, sum(s.calls)::float8, sum(s.total_exec_time)::float8, sum(s.rows)::float8
      FROM {{schema}}.pg_stat_statements(false) s LEFT JOIN pg_catalog.pg_database d ON d.oid = s.dbid
     WHERE s.toplevel GROUP BY 1, 2 LIMIT {MOST_KNOWN}
"""
SELECT_INFO = "SELECT dealloc::float8, stats_reset::text FROM {schema}.pg_stat_statements_info"
SELECT_TRANSACTIONS = "SELECT sum(xact_commit + xact_rollback)::float8 FROM pg_catalog.pg_stat_database"
SELECT_TEXTS = """
    SELECT d.datname, s.queryid::text, left(min(s.query), 2048)
      FROM {schema}.pg_stat_statements s LEFT JOIN pg_catalog.pg_database d ON d.oid = s.dbid
     WHERE s.queryid = ANY(%s::int8[]) GROUP BY 1, 2
"""
