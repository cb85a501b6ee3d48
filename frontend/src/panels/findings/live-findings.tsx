import { type CSSProperties, useId, useLayoutEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import type { Run } from "@/api/runs/types";
import { runTitle } from "@/lib/run-text";
import { formatDuration } from "@/lib/time/time";
import { useLocale } from "@/lib/use-locale";
import { useView } from "@/lib/view/context";
import { faultText } from "@/ui/fault/problem";
import { Hint, TextButton } from "@/ui/text/text";
import { DiagnosisBody } from "./diagnosis-body";
import { FindingHeadline } from "./finding-headline";
import classes from "./findings.module.css";
import { beforeRun } from "./model";
import { useLiveFindings } from "./use-live-findings";
import { useWords } from "./words";

/** As often as the server computes it. */
const REFRESH_MS = 5000;

interface Props {
  readonly runs: readonly Run[];
}

/** What is said of the present: one line, and all of it behind a button. A page that shows the past says so. */
export function LiveFindings({ runs }: Props) {
  const { t } = useTranslation();
  const locale = useLocale();
  const words = useWords();
  const { live } = useView();
  const body = useId();
  const [open, setOpen] = useState(false);
  const { data, error } = useLiveFindings(REFRESH_MS);
  // The box keeps the height of its longest sentence: what stands below it moves once, and not with each sentence.
  const box = useRef<HTMLElement>(null);
  const [room, setRoom] = useState({ width: 0, height: 0 });
  useLayoutEffect(() => {
    const { width = 0, height = 0 } = box.current?.firstElementChild?.getBoundingClientRect() ?? {};
    if (width !== room.width) setRoom({ width, height: 0 });
    else if (height > room.height) setRoom({ width, height: Math.ceil(height) });
  });
  if (data === undefined) {
    return (
      <div className={classes.live}>
        {!live && <Hint>{t("findings.past")}</Hint>}
        {error !== null && error.message !== "offline" && (
          <Hint>
            {t("findings.failed")}: {faultText(error, t)}
          </Hint>
        )}
      </div>
    );
  }
  const { findings } = data;
  const before = beforeRun(findings);
  const run = runs.find(({ id }) => id === data.run);
  const span = formatDuration(data.to_ms - data.from_ms, locale);
  return (
    <section
      ref={box}
      className={classes.live}
      style={room.height > 0 ? ({ "--room": `${room.height}px` } as CSSProperties) : undefined}
      aria-label={t("findings.headline")}
    >
      <FindingHeadline
        diagnosis={data}
        originMs={null}
        window={run === undefined ? t("findings.window", { span }) : runTitle(run)}
        below={
          before &&
          [
            t("findings.beforeRun", { sentence: words(before.first.sentence) }),
            before.more > 0 && t("findings.more", { count: before.more }),
          ]
            .filter(Boolean)
            .join(" · ")
        }
        action={
          <TextButton aria-expanded={open} aria-controls={body} onClick={() => setOpen(!open)}>
            {open ? t("findings.hide") : t(findings.length > 0 ? "findings.evidence" : "findings.details")}
          </TextButton>
        }
      />
      <div id={body} hidden={!open}>
        {open && (
          <>
            <h2 className="lw-visually-hidden">{t("findings.title")}</h2>
            <DiagnosisBody diagnosis={data} findings={findings} originMs={null} opened={findings[0]?.key ?? null} />
          </>
        )}
      </div>
    </section>
  );
}
