import { useId, useState } from "react";
import { useTranslation } from "react-i18next";
import { serverNow } from "@/api/server-clock";
import { readTime, writeTime } from "@/lib/time/input";
import { resolvePoint } from "@/lib/time/range";
import { DAY, HOUR } from "@/lib/time/time";
import { useNow } from "@/lib/time/use-now";
import { useTimes } from "@/lib/time/use-times";
import { useView } from "@/lib/view/context";
import { TimeField } from "@/panels/range/time-field";
import { Problem } from "@/ui/fault/problem";
import { Toggle, Toggles } from "@/ui/form/toggle";
import { Hint, TextButton } from "@/ui/text/text";
import { PRESETS, presetEnd, type SilenceDraft, type SilenceField } from "../model/silence";
import classes from "../notify.module.css";

interface Props {
  readonly draft: SilenceDraft;
  readonly onChange: (part: Partial<SilenceDraft>) => void;
  readonly words: (field: SilenceField) => string | null;
}

/** How long: presets from now, or a start and an end. */
export function SilenceWhen({ draft, onChange, words }: Props) {
  const { t } = useTranslation();
  const { zone } = useView();
  const times = useTimes();
  const id = useId();
  const now = useNow(serverNow, 10_000);
  const [later, setLater] = useState(draft.start !== "now");
  const start = pointMs(draft.start, zone, now) ?? now;
  const end = presetEnd(draft.preset, start, zone);
  const wall = (text: string) => {
    const ms = pointMs(text, zone, now);
    return ms === null ? null : writeTime(Math.floor(ms / 1000) * 1000, zone);
  };
  return (
    <>
      <div>
        <p id={id} className={classes.fieldLabel}>
          {t("notify.silences.duration")}
        </p>
        <Toggles labelledby={id}>
          {PRESETS.map((preset) => (
            <Toggle
              key={preset}
              on={draft.preset === preset}
              onClick={() =>
                onChange(
                  preset === "custom" && draft.end === ""
                    ? {
                        preset,
                        end: writeTime(
                          Math.floor((end ?? start + (draft.recurring ? 30 * DAY : HOUR)) / 1000) * 1000,
                          zone,
                        ),
                      }
                    : { preset },
                )
              }
            >
              {t(`notify.preset_${preset}`)}
            </Toggle>
          ))}
        </Toggles>
        {end !== null && (
          <Hint>
            {t("notify.silences.until", { time: times.short(end) })}{" "}
            {!later && <TextButton onClick={() => setLater(true)}>{t("notify.silences.later")}</TextButton>}
          </Hint>
        )}
      </div>
      {(later || draft.preset === "custom") && (
        <div className={classes.pair}>
          <TimeField
            label={t("notify.silences.start")}
            value={draft.start}
            onChange={(value) => onChange({ start: value })}
            pickLabel={t("range.fromCalendar")}
            timeLabel={t("notify.silences.start")}
            error={words("start")}
            wallTime={wall(draft.start)}
          />
          {draft.preset === "custom" && (
            <TimeField
              label={t("notify.silences.endTime")}
              value={draft.end}
              onChange={(value) => onChange({ end: value })}
              pickLabel={t("range.toCalendar")}
              timeLabel={t("notify.silences.endTime")}
              error={words("end")}
              wallTime={wall(draft.end)}
            />
          )}
        </div>
      )}
      {draft.preset !== "custom" && words("end") !== null && <Problem>{words("end")}</Problem>}
    </>
  );
}

function pointMs(text: string, zone: "local" | "utc", nowMs: number): number | null {
  const point = readTime(text, zone);
  return point === null ? null : resolvePoint(point, nowMs);
}
