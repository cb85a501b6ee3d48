import { useQuery } from "@tanstack/react-query";
import { createContext, type ReactNode, use, useEffect, useState, useSyncExternalStore } from "react";
import { statusQuery } from "@/api/queries";
import { Connection, type ConnectionState } from "@/panels/connection";

const Context = createContext<Connection | null>(null);

/** One line to the server for the whole page. */
export function ConnectionProvider({ children }: { children: ReactNode }) {
  const [connection] = useState(() => new Connection());
  const status = useQuery({ ...statusQuery, refetchInterval: 5000, retry: false });
  useEffect(() => connection.open(), [connection]);
  useEffect(() => {
    if (status.isError) connection.setStatus(null);
    else if (status.data) connection.setStatus(status.data);
  }, [connection, status.data, status.isError]);
  return <Context value={connection}>{children}</Context>;
}

export function useConnection(): Connection {
  const connection = use(Context);
  if (connection === null) throw new Error("useConnection needs a ConnectionProvider above it");
  return connection;
}

export function useConnectionState(): ConnectionState {
  const connection = useConnection();
  return useSyncExternalStore(connection.subscribe, connection.snapshot);
}
