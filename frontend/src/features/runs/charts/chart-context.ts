import type { ChartBand } from "@/charts/chart-types";
import type { Range } from "@/lib/time/time";
import type { useNotes } from "@/panels/notes/use-notes";

/** What all charts of a run's page share. */
export interface ChartContext {
  readonly range: Range;
  readonly bands: readonly ChartBand[];
  readonly notes: ReturnType<typeof useNotes>["marks"];
  readonly onZoom: (range: Range) => void;
  readonly onZoomOut: () => void;
  readonly onInstant: (timeMs: number) => void;
  readonly onNote: (id: string) => void;
}
