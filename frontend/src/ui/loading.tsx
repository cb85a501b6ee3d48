import { Skeleton } from "@mantine/core";

/** The place of what is being read; `label` says so to those who cannot see it. */
export function Loading({ height, label }: { height: number; label?: string }) {
  return (
    <Skeleton
      height={height}
      radius={6}
      animate={false}
      {...(label !== undefined && { role: "status", "aria-label": label })}
    />
  );
}
