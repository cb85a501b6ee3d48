import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useCallback, useMemo } from "react";
import { alertsQuery } from "@/api/alerts/queries";
import { useParams } from "@/lib/use-params";
import { type AlertListState, decodeAlertList, encodeAlertList, LIST_STATES, matchersOf } from "../model/list-state";

/** Values move on between two changes of state. */
const REFRESH_MS = 2000;

export type ChangeAlertList = (part: Partial<AlertListState>) => void;

/** The list's state as the address holds it. */
export function useAlertListState(): readonly [AlertListState, ChangeAlertList] {
  const [params, edit] = useParams();
  const state = useMemo(() => decodeAlertList(params), [params]);
  const change = useCallback<ChangeAlertList>(
    (part) => edit((held) => encodeAlertList({ ...decodeAlertList(held), ...part }, held), true),
    [edit],
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
