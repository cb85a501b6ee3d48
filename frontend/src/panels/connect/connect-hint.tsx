import { lazy, Suspense } from "react";
import { useNothingConnected } from "./use-nothing-connected";

// Of use for the first minutes of an installation; a page that has something to draw does not load it.
const ConnectCard = lazy(async () => ({ default: (await import("./connect-card")).ConnectCard }));

/** "Connect your app", for a page that has nothing to draw; nothing at all once anybody sends anything. */
export function ConnectHint() {
  return useNothingConnected() ? (
    <Suspense fallback={null}>
      <ConnectCard />
    </Suspense>
  ) : null;
}
