import type { TFunction } from "i18next";
import { useTranslation } from "react-i18next";
import type { Alert } from "@/api/alerts/types";
import { formatDuration, inZone, type Locale, type TimeZone } from "@/lib/time/time";
import { useLocale } from "@/lib/use-locale";
import { useView } from "@/lib/view/context";
import { Icon, type IconName } from "@/ui/icon";
import { shortInstant } from "../model/short-instant";
import classes from "./alert-card.module.css";

interface Note {
  readonly id: string;
  readonly icon: IconName;
  readonly text: string;
  readonly warns?: boolean;
}

interface Props {
  readonly alert: Alert;
  readonly now: number;
  /** What ran out stands above already. */
  readonly titled?: boolean;
}

/** What else is so about an alert, each in words: in hand, quiet and why, without data, flapping, held. */
export function AlertNotes({ alert, now, titled = false }: Props) {
  const { t } = useTranslation();
  const locale = useLocale();
  const { zone } = useView();
  const notes = notesOf(alert, { t, now, locale, zone }).filter(({ id }) => !(titled && id === "finding"));
  if (notes.length === 0) return null;
  return (
    <ul className={classes.notes}>
      {notes.map((note) => (
        <li key={note.id} data-warns={note.warns === true}>
          <Icon name={note.icon} size={13} />
          <span>{note.text}</span>
        </li>
      ))}
    </ul>
  );
}

interface Words {
  readonly t: TFunction;
  readonly now: number;
  readonly locale: Locale;
  readonly zone: TimeZone;
}

function notesOf(alert: Alert, { t, now, locale, zone }: Words): readonly Note[] {
  const at = (ms: number) => shortInstant(ms, now, zone, locale);
  const notes: Note[] = [];
  const found = alert.finding;
  if (found !== null) {
    const said = found.said_ms === null ? "" : t("alerts.note.asOf", { time: at(found.said_ms) });
    const certainty = [t(`findings.certainty_${found.certainty}`), said].filter(Boolean).join(", ");
    const text = t("alerts.note.finding", {
      sentence: inZone(found.sentence[locale], zone, alert.active_ms),
      certainty,
    });
    notes.push({ id: "finding", icon: "info", text });
  }
  const seen = alert.acknowledged;
  if (seen !== null) {
    const since = formatDuration(now - seen.at_ms, locale);
    const text = t("alerts.note.acknowledged", { by: seen.by, since });
    notes.push({ id: "seen", icon: "check", text: withComment(text, seen.comment) });
  }
  for (const silence of alert.silenced_by) {
    const text = t("alerts.note.silenced", { until: at(silence.ends_ms) });
    notes.push({ id: silence.id, icon: "bellOff", text: withComment(text, silence.comment) });
  }
  const cause = alert.follows_from;
  if (cause !== null) {
    const text = t("alerts.note.followsFrom", { cause: inZone(cause.sentence[locale], zone, alert.active_ms) });
    notes.push({ id: "follows-from", icon: "bellOff", text });
  } else if (alert.inhibited_by.length > 0) {
    notes.push({ id: "inhibited", icon: "bellOff", text: t("alerts.note.inhibited") });
  }
  if (alert.muted) notes.push({ id: "muted", icon: "moon", text: t("alerts.note.muted") });
  if (alert.no_data) {
    const since = alert.no_data_since_ms;
    const text = since === null ? t("alerts.note.noData") : t("alerts.note.noDataSince", { time: at(since) });
    notes.push({ id: "no-data", icon: "unknown", text, warns: true });
  }
  if (alert.flapping) {
    const text = t("alerts.note.flapping", { total: alert.recent_transitions });
    notes.push({ id: "flapping", icon: "pulse", text, warns: true });
  }
  if (alert.holding_until_ms !== null && alert.state !== "resolved") {
    const over = alert.holding_until_ms <= now;
    const text = over ? t("alerts.note.heldOver") : t("alerts.note.held", { time: at(alert.holding_until_ms) });
    notes.push({ id: "held", icon: "clock", text });
  }
  return notes;
}

const withComment = (text: string, comment: string) => (comment === "" ? text : `${text}: ${comment}`);
