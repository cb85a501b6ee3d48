import { useCallback, useEffect, useRef } from "react";
import { useSearchParams } from "react-router";

type Edit = (held: URLSearchParams) => URLSearchParams;

/**
 * The address' parameters, and a way to change them. The router renders a new address when it finds time; what comes
 * until then builds on that address already.
 */
export function useParams(): readonly [URLSearchParams, (edit: Edit, replace: boolean) => void] {
  const [params, setParams] = useSearchParams();
  const latest = useRef(params);
  useEffect(() => {
    latest.current = params;
  }, [params]);
  const change = useCallback(
    (edit: Edit, replace: boolean) => {
      latest.current = edit(latest.current);
      setParams(latest.current, { replace, preventScrollReset: true });
    },
    [setParams],
  );
  return [params, change];
}
