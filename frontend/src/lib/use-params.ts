import { useCallback, useLayoutEffect, useRef } from "react";
import { useSearchParams } from "react-router";

type Edit = (held: URLSearchParams) => URLSearchParams;

/** The parameters with others in place of theirs; null takes one out. */
export function withParams(held: URLSearchParams, changed: Readonly<Record<string, string | null>>): URLSearchParams {
  const next = new URLSearchParams(held);
  for (const [name, value] of Object.entries(changed)) {
    if (value === null) next.delete(name);
    else next.set(name, value);
  }
  return next;
}

/**
 * The address' parameters, and a way to change them. The router renders a new address when it finds time; what comes
 * until then builds on that address already.
 */
export function useParams(): readonly [URLSearchParams, (edit: Edit, replace: boolean) => void] {
  const [params, setParams] = useSearchParams();
  const latest = useRef(params);
  // Before the browser hears the next key: an effect that runs later would undo what that one changed.
  useLayoutEffect(() => {
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
