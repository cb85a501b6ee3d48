import { useQuery } from "@tanstack/react-query";
import { liveFindingsQuery } from "@/api/findings/queries";
import { useView } from "@/lib/view/context";

/** As often as the server computes it. */
const REFRESH_MS = 5000;

/** What the server says of the present, for all parts of the page; none where the page shows the past. */
export function useLiveFindings() {
  const { live } = useView();
  const { data, error } = useQuery({ ...liveFindingsQuery, refetchInterval: REFRESH_MS, enabled: live, retry: false });
  return live ? { data, error } : { data: undefined, error: null };
}
