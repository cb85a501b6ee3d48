import { type ComponentType, lazy } from "react";
import { LivePage } from "@/features/live/live-page";
import { TargetsPage } from "@/features/targets/targets-page";
import type { IconName } from "@/ui/icon";

export interface Page {
  /** Names the page in the catalogues: `nav.<id>`. */
  readonly id: "live" | "runs" | "targets";
  readonly path: string;
  readonly icon: IconName;
  /** Second key of the shortcut that begins with G. */
  readonly key: string;
  /** Whether the header shows the time range. */
  readonly timed: boolean;
  readonly element: ComponentType;
}

export interface SubPage {
  /** Pages that stand on their own have one, which names them in the catalogues, `nav.<id>`; the palette lists them. */
  readonly id?: "sweep" | "trend" | "meeting";
  readonly path: string;
  readonly element: ComponentType;
}

// Pages that are read after a test are loaded when they are opened: the live page must not wait for them.
const RunsPage = lazy(async () => ({ default: (await import("@/features/runs/runs-page")).RunsPage }));
const RunPage = lazy(async () => ({ default: (await import("@/features/runs/run-page")).RunPage }));
const ComparePage = lazy(async () => ({ default: (await import("@/features/compare/compare-page")).ComparePage }));
const SweepPage = lazy(async () => ({ default: (await import("@/features/compare/sweep-page")).SweepPage }));
const TrendPage = lazy(async () => ({ default: (await import("@/features/compare/trend-page")).TrendPage }));
const MeetingPage = lazy(async () => ({ default: (await import("@/features/meeting/meeting-page")).MeetingPage }));

/** All pages in the order of the navigation. A new page is a feature folder, a line here and a name in the catalogues. */
export const PAGES: readonly Page[] = [
  { id: "live", path: "/", icon: "pulse", key: "l", timed: true, element: LivePage },
  { id: "runs", path: "/runs", icon: "play", key: "r", timed: false, element: RunsPage },
  { id: "targets", path: "/targets", icon: "target", key: "t", timed: false, element: TargetsPage },
];

/** Pages that others lead to. */
export const SUB_PAGES: readonly SubPage[] = [
  { path: "/runs/compare", element: ComparePage },
  { id: "sweep", path: "/runs/sweep", element: SweepPage },
  { id: "trend", path: "/runs/trend", element: TrendPage },
  { id: "meeting", path: "/runs/meeting", element: MeetingPage },
  { path: "/runs/:runId", element: RunPage },
];
