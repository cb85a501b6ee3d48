import { useQuery } from "@tanstack/react-query";
import { targetsQuery } from "@/api/queries";
import { useView } from "@/lib/view/context";
import { nothingConnected } from "./model";

const REFRESH_MS = 10_000;

/**
 * Whether nobody sends anything yet but the host and Loadwatch itself; looked at until somebody does. Of a page that
 * shows the past nothing is said.
 */
export function useNothingConnected(): boolean {
  const { live } = useView();
  const { data } = useQuery({
    ...targetsQuery,
    enabled: live,
    refetchInterval: ({ state }) =>
      state.data !== undefined && !nothingConnected(state.data.targets) ? false : REFRESH_MS,
  });
  return live && data !== undefined && nothingConnected(data.targets);
}
