import { Button } from "@mantine/core";
import { useEffect, useRef } from "react";
import classes from "./load-more.module.css";

interface Props {
  readonly label: string;
  readonly query: {
    readonly hasNextPage: boolean;
    readonly isFetchingNextPage: boolean;
    readonly fetchNextPage: () => unknown;
  };
  /** Reads on when it comes into view; the button is for keyboards and for browsers that observe nothing. */
  readonly auto?: boolean;
}

/** The next page of a list, if there is one. */
export function LoadMore({ label, query, auto = false }: Props) {
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = query;
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!auto || box.current === null || isFetchingNextPage || typeof IntersectionObserver === "undefined") return;
    const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting && void fetchNextPage(), {
      rootMargin: "200px",
    });
    observer.observe(box.current);
    return () => observer.disconnect();
  }, [auto, isFetchingNextPage, fetchNextPage]);
  if (!hasNextPage) return null;
  return (
    <div ref={box} className={classes.more}>
      <Button variant="default" size="xs" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
        {label}
      </Button>
    </div>
  );
}
