import { useDocumentVisibility } from "@mantine/hooks";
import { createContext, type ReactNode, use, useEffect, useState, useSyncExternalStore } from "react";
import { useLocale } from "@/lib/use-locale";
import { useView } from "@/lib/view/context";
import { useConnection } from "./connection-context";
import { type FeedState, LiveFeed } from "./live-feed";

const Context = createContext<LiveFeed | null>(null);

/** Feeds all charts below from one batched request at a time. */
export function FeedProvider({ children }: { children: ReactNode }) {
  const { range, pausedAt, filters } = useView();
  const lang = useLocale();
  const connection = useConnection();
  const visible = useDocumentVisibility() === "visible";
  const [feed] = useState(() => new LiveFeed({ range, pausedAt, filters, lang }));
  useEffect(() => feed.setView({ range, pausedAt, filters, lang }), [feed, range, pausedAt, filters, lang]);
  useEffect(() => feed.setHidden(!visible), [feed, visible]);
  useEffect(() => connection.onSamples(() => feed.news()), [connection, feed]);
  useEffect(() => {
    feed.open();
    return () => feed.close();
  }, [feed]);
  return <Context value={feed}>{children}</Context>;
}

export function useFeed(): LiveFeed {
  const feed = use(Context);
  if (feed === null) throw new Error("useFeed needs a FeedProvider above it");
  return feed;
}

export function useFeedState(): FeedState {
  const feed = useFeed();
  return useSyncExternalStore(feed.subscribe, feed.snapshot);
}
