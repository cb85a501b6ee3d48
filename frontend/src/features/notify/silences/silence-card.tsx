import { Button } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import type { Silence } from "@/api/notify/types";
import { serverNow } from "@/api/server-clock";
import { useNow } from "@/lib/time/use-now";
import { useTimes } from "@/lib/time/use-times";
import { Icon } from "@/ui/icon";
import { Card, CardHead, CardTools } from "@/ui/list/card";
import { StateMark } from "@/ui/state-mark";
import { Hint, NameLine } from "@/ui/text/text";
import { MatcherChips } from "../matcher-chips";
import { formatMatcher } from "../model/matchers";
import { useRecurrenceWords } from "./use-recurrence-words";

interface Props {
  readonly silence: Silence;
  readonly may: boolean;
  readonly onEdit: () => void;
  readonly onCopy: () => void;
  readonly onEnd: () => void;
}

/** One silence: what it matches, why, by whom, and until when. */
export function SilenceCard({ silence, may, onEdit, onCopy, onEnd }: Props) {
  const { t } = useTranslation();
  const words = useRecurrenceWords();
  const over = silence.state === "expired";
  const name = `: ${silence.comment}`;
  return (
    <Card id={silence.id} data-silence={silence.state} tabIndex={-1}>
      <CardHead>
        <StateMark
          tone={silence.holds_now ? "warn" : "unknown"}
          label={
            silence.state === "active" && !silence.holds_now
              ? t("notify.silences.resting")
              : t(`notify.silences.state_${silence.state}`)
          }
        />
        {may && (
          <CardTools>
            {!over && (
              <>
                <Button size="compact-sm" variant="default" onClick={onEdit} aria-label={t("action.edit") + name}>
                  {t("action.edit")}
                </Button>
                <Button
                  size="compact-sm"
                  variant="default"
                  onClick={onEnd}
                  aria-label={t("notify.silences.end") + name}
                >
                  {t("notify.silences.end")}
                </Button>
              </>
            )}
            <Button size="compact-sm" variant="default" onClick={onCopy} aria-label={t("notify.silences.again") + name}>
              {t("notify.silences.again")}
            </Button>
          </CardTools>
        )}
      </CardHead>
      <NameLine>{silence.comment}</NameLine>
      <MatcherChips matchers={silence.matchers.map(formatMatcher)} />
      <When silence={silence} />
      {silence.recurrence && (
        <Hint>
          <Icon name="clock" size={12} /> {words(silence.recurrence)}
        </Hint>
      )}
      <Hint>
        {t("notify.silences.by", { author: silence.author })}
        {!over && " · "}
        {!over && <Link to={alertsPath(silence)}>{t("notify.silences.alerts", { alerts: silence.alerts })}</Link>}
      </Hint>
    </Card>
  );
}

function When({ silence }: { silence: Silence }) {
  const { t } = useTranslation();
  const times = useTimes();
  const now = useNow(serverNow, 1000);
  const span = t("notify.silences.span", {
    start: times.instant(silence.starts_ms),
    end: times.instant(silence.ends_ms),
  });
  const rest =
    silence.state === "active"
      ? t("notify.silences.left", { span: times.span(silence.ends_ms - now) })
      : silence.state === "pending"
        ? t("notify.silences.starts", { span: times.span(silence.starts_ms - now) })
        : "";
  const next =
    silence.state !== "expired" && !silence.holds_now && silence.next_ms !== null && silence.recurrence != null
      ? t("notify.silences.next", { time: times.short(silence.next_ms) })
      : "";
  return <Hint>{[span, rest, next].filter((part) => part !== "").join(" · ")}</Hint>;
}

/** The alerts that it matches, on the page of those of now. */
function alertsPath(silence: Silence): string {
  return `/alerts?${new URLSearchParams(silence.matchers.map((one) => ["matcher", formatMatcher(one)]))}`;
}
