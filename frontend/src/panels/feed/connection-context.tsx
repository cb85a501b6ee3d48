import { useQuery } from "@tanstack/react-query";
import { createContext, type ReactNode, use, useEffect, useState, useSyncExternalStore } from "react";
import { ApiError } from "@/api/client";
import { statusQuery } from "@/api/queries";
import { Connection, type ConnectionState } from "./connection";

const ANSWERING_MS = 5000;
const AWAY_MS = 2000;

const Context = createContext<Connection | null>(null);

/** One line to the server for the whole page. */
export function ConnectionProvider({ children }: { children: ReactNode }) {
  const [connection] = useState(() => new Connection());
  const status = useQuery({
    ...statusQuery,
    refetchInterval: ({ state }) => (state.status === "error" ? AWAY_MS : ANSWERING_MS),
    retry: false,
  });
  useEffect(() => connection.open(), [connection]);
  useEffect(() => {
    // A server whose database is away answers, and says so elsewhere.
    const answered = status.error instanceof ApiError && status.error.code === "access-unavailable";
    if (status.isError && !answered) connection.setStatus(null);
    else if (status.data) connection.setStatus(status.data);
  }, [connection, status.data, status.isError, status.error]);
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
