import { useQuery } from "@tanstack/react-query";
import { liveFindingsQuery } from "@/api/findings/queries";
import { useView } from "@/lib/view/context";

/** What the server says of the present, for all parts of the page: one asks again, all others read what it was told. */
export function useLiveFindings(refetchInterval: number | false = false) {
  const { live } = useView();
  const { data, error } = useQuery({ ...liveFindingsQuery, refetchInterval, enabled: live, retry: false });
  return live ? { data, error } : { data: undefined, error: null };
}
