import { useTranslation } from "react-i18next";
import { serverNow } from "@/api/server-clock";
import { followsNow, panRange, widenRange } from "@/lib/time/range";
import { useView } from "@/lib/view/context";
import classes from "@/panels/range/range-controls.module.css";
import { RangePicker } from "@/panels/range/range-picker";
import { Icon } from "@/ui/icon";
import { IconButton } from "@/ui/icon-button";

/** Range, steps through time, and live or paused. */
export function RangeControls() {
  const view = useView();
  const { t } = useTranslation();
  const now = () => view.pausedAt ?? serverNow();
  const state = view.live ? t("range.live") : followsNow(view.range) ? t("range.paused") : t("range.fixed");
  return (
    <fieldset className={classes.controls} aria-label={t("range.label")}>
      {view.canUndo && <IconButton icon="undo" label={t("range.undo")} hint="Ctrl+Z" onClick={view.undoRange} />}
      <IconButton
        icon="chevronLeft"
        label={t("range.earlier")}
        hint=","
        onClick={() => view.setRange(panRange(view.range, -0.5, now()))}
      />
      <RangePicker />
      <IconButton
        icon="chevronRight"
        label={t("range.later")}
        hint="."
        disabled={view.live}
        onClick={() => view.setRange(panRange(view.range, 0.5, serverNow()))}
      />
      <IconButton
        icon="zoomOut"
        label={t("range.zoomOut")}
        hint="-"
        onClick={() => view.setRange(widenRange(view.range, 2, now()))}
      />
      <button
        type="button"
        className={classes.live}
        data-live={view.live}
        title={view.live ? t("range.pause") : t("range.resume")}
        aria-label={`${state}: ${view.live ? t("range.pause") : t("range.resume")}`}
        onClick={() => view.togglePause(serverNow())}
      >
        <Icon name={view.live ? "pause" : "play"} size={13} />
        <span>{state}</span>
      </button>
    </fieldset>
  );
}
