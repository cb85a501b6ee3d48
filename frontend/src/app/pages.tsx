import type { ComponentType } from "react";
import { LivePage } from "@/features/live/live-page";
import { TargetsPage } from "@/features/targets/targets-page";
import type { IconName } from "@/ui/icon";

export interface Page {
  /** Names the page in the catalogues: `nav.<id>`. */
  readonly id: "live" | "targets";
  readonly path: string;
  readonly icon: IconName;
  /** Second key of the shortcut that begins with G. */
  readonly key: string;
  /** Whether the header shows the time range. */
  readonly timed: boolean;
  readonly element: ComponentType;
}

/** All pages in the order of the navigation. A new page is a feature folder, a line here and a name in the catalogues. */
export const PAGES: readonly Page[] = [
  { id: "live", path: "/", icon: "pulse", key: "l", timed: true, element: LivePage },
  { id: "targets", path: "/targets", icon: "target", key: "t", timed: false, element: TargetsPage },
];
