import { Button, Popover } from "@mantine/core";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { serverNow } from "@/api/server-clock";
import { readTime, writeTime } from "@/lib/time/input";
import {
  checkRange,
  formatPoint,
  lastRange,
  RELATIVE_SPANS,
  relativeSpanOf,
  resolvePoint,
  type TimePoint,
  type TimeRange,
} from "@/lib/time/range";
import type { TimeZone } from "@/lib/time/time";
import { useLocale } from "@/lib/use-locale";
import { useView } from "@/lib/view/context";
import classes from "@/panels/range/range-picker.module.css";
import { rangeText, spanText } from "@/panels/range/range-text";
import { TimeField } from "@/panels/range/time-field";
import { useRangeClipboard } from "@/panels/range/use-range-clipboard";
import { Icon } from "@/ui/icon";

/** The button that names the range, and all ways to choose another one. */
export function RangePicker() {
  const view = useView();
  const { t } = useTranslation();
  const locale = useLocale();
  const [open, setOpen] = useState(false);
  const text = rangeText(view.range, view.pausedAt ?? serverNow(), t, view.zone, locale);
  const choose = (range: TimeRange) => {
    view.setRange(range);
    setOpen(false);
  };
  return (
    <Popover opened={open} onChange={setOpen} position="bottom-end" shadow="md" trapFocus returnFocus>
      <Popover.Target>
        <button
          type="button"
          className={classes.button}
          aria-label={t("range.pick", { range: text })}
          aria-expanded={open}
          onClick={() => setOpen(!open)}
        >
          <Icon name="clock" size={14} />
          <span className={classes.text}>{text}</span>
          <Icon name="chevronDown" size={12} />
        </button>
      </Popover.Target>
      <Popover.Dropdown p={0} aria-label={t("range.label")}>
        <div className={classes.panel}>
          <QuickRanges current={relativeSpanOf(view.range)} choose={choose} />
          <CustomRange key={formatPoint(view.range.from) + formatPoint(view.range.to)} choose={choose} />
        </div>
      </Popover.Dropdown>
    </Popover>
  );
}

function QuickRanges({ current, choose }: { current: string | null; choose: (range: TimeRange) => void }) {
  const { t } = useTranslation();
  return (
    <div className={classes.quick}>
      <h3 className={classes.legend}>{t("range.quick")}</h3>
      {RELATIVE_SPANS.map((span) => (
        <button
          key={span}
          type="button"
          className={classes.choice}
          aria-pressed={span === current}
          onClick={() => choose(lastRange(span))}
        >
          {t("range.last", { span: spanText(span, t) })}
          {span === current && <Icon name="check" size={13} />}
        </button>
      ))}
    </div>
  );
}

const asText = (point: TimePoint, zone: TimeZone) =>
  point.kind === "at" ? writeTime(point.ms, zone) : formatPoint(point);

type FieldProblem = "unread" | "order" | "too_long";

function CustomRange({ choose }: { choose: (range: TimeRange) => void }) {
  const view = useView();
  const { t } = useTranslation();
  const clipboard = useRangeClipboard();
  const [from, setFrom] = useState(() => asText(view.range.from, view.zone));
  const [to, setTo] = useState(() => asText(view.range.to, view.zone));
  const [problems, setProblems] = useState<{ from?: FieldProblem; to?: FieldProblem }>({});
  const now = serverNow();
  const wall = (text: string) => {
    const point = readTime(text, view.zone);
    return point === null ? null : writeTime(Math.floor(resolvePoint(point, now) / 1000) * 1000, view.zone);
  };
  const submit = () => {
    const first = readTime(from, view.zone);
    const last = readTime(to, view.zone);
    if (first === null || last === null) {
      setProblems({ ...(first === null && { from: "unread" }), ...(last === null && { to: "unread" }) });
      return;
    }
    const range = { from: first, to: last };
    const problem = checkRange(range, now);
    if (problem === null) choose(range);
    else setProblems({ from: problem });
  };
  const words = (problem: FieldProblem | undefined) => (problem === undefined ? null : t(`range.problem_${problem}`));
  return (
    <form
      className={classes.custom}
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <h3 className={classes.legend}>{t("range.custom")}</h3>
      <TimeField
        label={t("range.from")}
        value={from}
        onChange={setFrom}
        pickLabel={t("range.fromCalendar")}
        timeLabel={t("range.from")}
        error={words(problems.from)}
        wallTime={wall(from)}
      />
      <TimeField
        label={t("range.to")}
        value={to}
        onChange={setTo}
        pickLabel={t("range.toCalendar")}
        timeLabel={t("range.to")}
        error={words(problems.to)}
        description={t("range.typed")}
        wallTime={wall(to)}
      />
      <Button type="submit" size="xs" mt="xs">
        {t("range.apply")}
      </Button>
      <div className={classes.clipboard}>
        <Button variant="default" size="xs" onClick={clipboard.copy}>
          {t("range.copy")}
        </Button>
        <Button variant="default" size="xs" onClick={clipboard.paste}>
          {t("range.paste")}
        </Button>
      </div>
    </form>
  );
}
