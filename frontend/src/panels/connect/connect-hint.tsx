import { lazy, Suspense } from "react";
import { ErrorBoundary } from "@/ui/error-boundary";

// Of use for the first minutes of an installation; a page that has something to draw does not load it.
const ConnectCard = lazy(async () => ({ default: (await import("./connect-card")).ConnectCard }));

/** "Connect your app". For whom it is, `useNothingConnected` says; the page gives it its place. */
export function ConnectHint() {
  return (
    // A server that stops while this is loaded is told elsewhere on the page, which goes on without a hint.
    <ErrorBoundary fallback={() => null}>
      <Suspense fallback={null}>
        <ConnectCard />
      </Suspense>
    </ErrorBoundary>
  );
}
