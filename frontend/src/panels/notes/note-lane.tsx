import { useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import type { Note } from "@/api/types";
import { formatInstant, type Range } from "@/lib/time/time";
import { useLocale } from "@/lib/use-locale";
import { useView } from "@/lib/view/context";
import classes from "@/panels/notes/notes.module.css";
import { layOutLabels } from "./lane-layout";

interface Props {
  readonly notes: readonly Note[];
  readonly range: Range;
  readonly onDraw: (startMs: number, endMs: number | null) => void;
  readonly onOpen: (note: Note) => void;
}

interface Drag {
  readonly fromPx: number;
  readonly toPx: number;
}

/** Shorter than this, a press is a click. */
const DRAG_PX = 4;

/** A time line with every annotation as a button; dragging over it makes a span. */
export function NoteLane({ notes, range, onDraw, onOpen }: Props) {
  const { t } = useTranslation();
  const { zone } = useView();
  const locale = useLocale();
  const track = useRef<HTMLDivElement>(null);
  const [drag, setDrag] = useState<Drag | null>(null);
  const span = range.endMs - range.startMs;
  const place = (ms: number) => Math.min(100, Math.max(0, ((ms - range.startMs) / span) * 100));
  const xOf = (clientX: number) => {
    const box = track.current?.getBoundingClientRect();
    return box === undefined ? 0 : Math.min(box.width, Math.max(0, clientX - box.left));
  };
  const timeOf = (px: number) => range.startMs + (px / Math.max(1, track.current?.clientWidth ?? 1)) * span;
  const finish = () => {
    if (drag === null) return;
    const [first, last] = drag.fromPx <= drag.toPx ? [drag.fromPx, drag.toPx] : [drag.toPx, drag.fromPx];
    setDrag(null);
    onDraw(timeOf(first), last - first < DRAG_PX ? null : timeOf(last));
  };
  const shown = notes.filter((note) => (note.end_ms ?? note.start_ms) >= range.startMs && note.start_ms <= range.endMs);
  const marks = shown.map((note) => {
    const left = place(note.start_ms);
    return { id: note.id, left, width: note.end_ms === null ? null : place(note.end_ms) - left };
  });
  const labels = layOutLabels(marks);
  return (
    <fieldset className={classes.lane} aria-label={t("note.lane")}>
      <div
        ref={track}
        className={classes.track}
        title={t("note.laneHint")}
        onPointerDown={(event) => {
          if (event.button !== 0 || event.target !== event.currentTarget) return;
          event.currentTarget.setPointerCapture(event.pointerId);
          setDrag({ fromPx: xOf(event.clientX), toPx: xOf(event.clientX) });
        }}
        onPointerMove={(event) => drag !== null && setDrag({ ...drag, toPx: xOf(event.clientX) })}
        onPointerUp={finish}
        onPointerCancel={() => setDrag(null)}
      >
        {shown.length === 0 && drag === null && <span className={classes.laneHint}>{t("note.laneHint")}</span>}
        {shown.map((note, index) => {
          const { left = 0, width = null } = marks[index] ?? {};
          const { room = 0, before = false } = labels.get(note.id) ?? {};
          return (
            <button
              key={note.id}
              type="button"
              className={classes.mark}
              data-span={width !== null}
              data-before={before}
              style={{
                translate: `${left}cqi`,
                ...(width === null ? { maxWidth: `${room}%` } : { width: `${width}%` }),
              }}
              aria-label={t("note.open", { text: note.text })}
              title={[
                note.text,
                `${note.author}, ${formatInstant(note.start_ms, zone, locale)}`,
                note.commit,
                note.issue,
              ]
                .filter(Boolean)
                .join("\n")}
              onClick={() => onOpen(note)}
            >
              {room > 0 && <span className={classes.markText}>{note.text}</span>}
            </button>
          );
        })}
        {drag !== null && (
          <span
            className={classes.drag}
            style={{ left: Math.min(drag.fromPx, drag.toPx), width: Math.abs(drag.toPx - drag.fromPx) }}
          />
        )}
      </div>
    </fieldset>
  );
}
