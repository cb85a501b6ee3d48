import { useQuery } from "@tanstack/react-query";
import { targetsQuery } from "@/api/queries";
import { nothingConnected } from "./model";

const REFRESH_MS = 10_000;

/** Whether nobody sends anything yet but the host and Loadwatch itself; looked at until somebody does. */
export function useNothingConnected(): boolean {
  const { data } = useQuery({
    ...targetsQuery,
    refetchInterval: ({ state }) =>
      state.data !== undefined && !nothingConnected(state.data.targets) ? false : REFRESH_MS,
  });
  return data !== undefined && nothingConnected(data.targets);
}
