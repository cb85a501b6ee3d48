/** What the address of the alerts page holds. Pure codec; parameters of others stay as they are. */

export const LIST_STATES = ["firing", "pending"] as const;
export type ListState = (typeof LIST_STATES)[number];

export interface AlertListState {
  readonly search: string;
  /** Null is both. */
  readonly state: ListState | null;
  /** Value of the label `severity`; null is all. */
  readonly severity: string | null;
}

export const ALL_ALERTS: AlertListState = { search: "", state: null, severity: null };

/** Reads the state; what is unknown counts as not said. */
export function decodeAlertList(params: URLSearchParams): AlertListState {
  return {
    search: params.get("search") ?? "",
    state: LIST_STATES.find((one) => one === params.get("state")) ?? null,
    severity: params.get("severity") || null,
  };
}

/** Writes the state over the parameters that were there; defaults are left out. */
export function encodeAlertList(state: AlertListState, previous: URLSearchParams): URLSearchParams {
  const params = new URLSearchParams(previous);
  for (const name of ["search", "state", "severity"] as const) {
    const value = state[name];
    if (value === null || value === "") params.delete(name);
    else params.set(name, value);
  }
  return params;
}

/** The server's form of the severity filter. */
export function matchersOf(state: AlertListState): readonly string[] {
  return state.severity === null ? [] : [`severity="${state.severity.replace(/["\\]/g, "\\$&")}"`];
}
