// node-postgres' pool under the names of OpenTelemetry, by prom-client: watchPool(pool, "main").
import { Gauge } from "prom-client";

const NAME = "db_client_connection_pool_name";
const STATE = "db_client_connection_state";

/** Call it once for each `new pg.Pool(…)`; the numbers are read when /metrics is. */
export function watchPool(pool, name) {
  const labels = { [NAME]: name };
  const gauge = (metric, help, names, read) =>
    new Gauge({
      name: metric,
      help,
      labelNames: names,
      collect() {
        read(this);
      },
    });
  gauge("db_client_connection_count", "Connections by state.", [NAME, STATE], (one) => {
    one.set({ ...labels, [STATE]: "used" }, pool.totalCount - pool.idleCount);
    one.set({ ...labels, [STATE]: "idle" }, pool.idleCount);
  });
  gauge("db_client_connection_max", "The pool's size.", [NAME], (one) => one.set(labels, pool.options.max));
  gauge("db_client_connection_pending_requests", "Requests that wait.", [NAME], (one) => one.set(labels, pool.waitingCount));
}
