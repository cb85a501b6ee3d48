import { lazy, Suspense } from "react";
import { Loading } from "@/ui/loading";
import classes from "./connect.module.css";

// Of use for the first minutes of an installation; a page that has something to draw does not load it.
const ConnectCard = lazy(async () => ({ default: (await import("./connect-card")).ConnectCard }));

/** "Connect your app", in a place of one height from the start on. For whom it is, `useNothingConnected` says. */
export function ConnectHint() {
  return (
    <div className={classes.place}>
      <Suspense fallback={<Loading height={HEIGHT} />}>
        <ConnectCard />
      </Suspense>
    </div>
  );
}

/** Of four lines with their head; the style sheet has the same. */
const HEIGHT = 180;
