/** What fires now, for the bell, the window's title and the browser's notifications. */
import { useQuery } from "@tanstack/react-query";
import { alertsQuery } from "@/api/alerts/queries";
import type { Alert } from "@/api/alerts/types";
import { useConnectionState } from "@/panels/feed/connection-context";
import { isLoud } from "./notices";

const CALM_MS = 10_000;
/** Without the stream nobody says that something changed. */
const LOST_MS = 2_000;

export interface FiringAlerts {
  /** Null before the first answer. */
  readonly alerts: readonly Alert[] | null;
  readonly firing: number;
  /** Those that nobody looks at and nobody silenced. */
  readonly loud: number;
}

export function useFiringAlerts(): FiringAlerts {
  const { line } = useConnectionState();
  const query = useQuery({
    ...alertsQuery({ states: ["firing"], search: "", matchers: [], sparklines: false }),
    refetchInterval: line === "stream" ? CALM_MS : LOST_MS,
    // Notifications are for those who look at something else.
    refetchIntervalInBackground: true,
    retry: false,
  });
  const alerts = query.data?.alerts ?? null;
  return { alerts, firing: query.data?.counts.firing ?? 0, loud: alerts?.filter(isLoud).length ?? 0 };
}
