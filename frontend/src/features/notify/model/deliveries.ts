/** The deliveries list as the address holds it. Pure. */
import type { components } from "@/api/schema.gen";

type DeliveryState = components["schemas"]["DeliveryState"];

export const DELIVERY_STATES: readonly DeliveryState[] = ["waiting", "sending", "delivered", "withdrawn", "dead"];

export interface DeliveryFilter {
  readonly states: readonly DeliveryState[];
  readonly receiver: string;
  readonly search: string;
}

export function decodeDeliveries(params: URLSearchParams): DeliveryFilter {
  const asked = params.getAll("state");
  return {
    states: DELIVERY_STATES.filter((state) => asked.includes(state)),
    receiver: params.get("receiver") ?? "",
    search: params.get("q") ?? "",
  };
}

/** Writes the filter over the parameters that were there; what hides nothing is left out. */
export function encodeDeliveries(filter: DeliveryFilter, previous: URLSearchParams): URLSearchParams {
  const params = new URLSearchParams(previous);
  for (const name of ["state", "receiver", "q"]) params.delete(name);
  for (const state of filter.states) params.append("state", state);
  if (filter.receiver !== "") params.set("receiver", filter.receiver);
  if (filter.search !== "") params.set("q", filter.search);
  return params;
}
