import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useRef } from "react";
import { useSearchParams } from "react-router";
import { alertsQuery } from "@/api/alerts/queries";
import { type AlertListState, decodeAlertList, encodeAlertList, LIST_STATES, matchersOf } from "../model/list-state";

/** Values move on between two changes of state. */
const REFRESH_MS = 2000;

export type ChangeAlertList = (part: Partial<AlertListState>) => void;

/** The list's state as the address holds it. */
export function useAlertListState(): readonly [AlertListState, ChangeAlertList] {
  const [params, setParams] = useSearchParams();
  const state = useMemo(() => decodeAlertList(params), [params]);
  // The router renders a new address when it finds time; what comes until then must build on that address already.
  const latest = useRef(params);
  useEffect(() => {
    latest.current = params;
  }, [params]);
  const change = useCallback<ChangeAlertList>(
    (part) => {
      latest.current = encodeAlertList({ ...decodeAlertList(latest.current), ...part }, latest.current);
      setParams(latest.current, { replace: true, preventScrollReset: true });
    },
    [setParams],
  );
  return [state, change];
}

/** Alerts that match, read again every two seconds and at once when the server says that one has changed. */
export function useAlertList(state: AlertListState) {
  return useQuery({
    ...alertsQuery({
      states: state.state === null ? LIST_STATES : [state.state],
      search: state.search,
      matchers: matchersOf(state),
      sparklines: true,
    }),
    refetchInterval: REFRESH_MS,
    placeholderData: keepPreviousData,
  });
}
