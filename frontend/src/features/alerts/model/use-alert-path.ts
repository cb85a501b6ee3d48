import { useSearchParams } from "react-router";

/** An alert's address; of the page's own only the time zone goes along. */
export function useAlertPath(): (id: string) => string {
  const [params] = useSearchParams();
  const zone = params.get("tz");
  return (id) => `/alerts/${id}${zone === null ? "" : `?tz=${zone}`}`;
}
