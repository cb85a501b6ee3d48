import { useHotkeys } from "@mantine/hooks";
import { serverNow } from "@/api/server-clock";
import { panRange, widenRange } from "@/lib/time/range";
import { useView } from "@/lib/view/context";
import { useRangeClipboard } from "@/panels/range/use-range-clipboard";

/** The keys that the shortcuts dialog lists for the time range; none of them acts while a field has the focus. */
export function useRangeKeys(enabled: boolean): void {
  const view = useView();
  const clipboard = useRangeClipboard();
  const now = () => view.pausedAt ?? serverNow();
  useHotkeys(
    enabled
      ? [
          ["P", () => view.togglePause(serverNow())],
          ["mod+Z", view.undoRange],
          ["-", () => view.setRange(widenRange(view.range, 2, now()))],
          [",", () => view.setRange(panRange(view.range, -0.5, now()))],
          [".", () => !view.live && view.setRange(panRange(view.range, 0.5, serverNow()))],
          ["C", clipboard.copy],
          ["V", clipboard.paste],
          ["U", () => view.change({ zone: view.zone === "utc" ? "local" : "utc" })],
        ]
      : [],
  );
}
