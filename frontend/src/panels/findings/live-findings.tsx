import { useQuery } from "@tanstack/react-query";
import { useId, useState } from "react";
import { useTranslation } from "react-i18next";
import { liveFindingsQuery } from "@/api/findings/queries";
import type { Run } from "@/api/runs/types";
import { formatDuration } from "@/lib/time/time";
import { useLocale } from "@/lib/use-locale";
import { useView } from "@/lib/view/context";
import { faultText } from "@/ui/fault/problem";
import { Dim, Hint, TextButton } from "@/ui/text/text";
import { DiagnosisBody } from "./diagnosis-body";
import { FindingHeadline } from "./finding-headline";
import classes from "./findings.module.css";
import { beforeRun } from "./model";
import { useWords } from "./words";

/** As often as the server computes it. */
const REFRESH_MS = 5000;

interface Props {
  /** The run that was begun last: the sums of its tool may tell of trouble that no second does. */
  readonly run?: Run | undefined;
}

/** What is said of the last minutes: one line, and all of it behind a button. A page that shows the past has none. */
export function LiveFindings({ run }: Props) {
  const { t } = useTranslation();
  const locale = useLocale();
  const words = useWords();
  const { live } = useView();
  const body = useId();
  const [open, setOpen] = useState(false);
  const { data, error } = useQuery({ ...liveFindingsQuery, refetchInterval: REFRESH_MS, enabled: live, retry: false });
  if (!live) return null;
  if (data === undefined) {
    return error === null || error.message === "offline" ? (
      <div className={classes.live} />
    ) : (
      <Hint>
        {t("findings.failed")}: {faultText(error, t)}
      </Hint>
    );
  }
  const { findings } = data;
  const before = beforeRun(findings);
  const lately = run !== undefined && (run.ended_ms ?? data.to_ms) > data.from_ms;
  const untold = lately && data.state === "none" && run.diagnosis?.state === "cannot-tell";
  return (
    <section className={classes.live} aria-label={t("findings.headline")}>
      <FindingHeadline
        diagnosis={untold ? { ...data, state: "cannot-tell", cannot_tell: run.diagnosis?.cannot_tell ?? null } : data}
        findings={findings}
        originMs={null}
        window={t("findings.window", { span: formatDuration(data.to_ms - data.from_ms, locale) })}
        action={
          <TextButton aria-expanded={open} aria-controls={body} onClick={() => setOpen(!open)}>
            {open ? t("findings.hide") : t(findings.length > 0 ? "findings.evidence" : "findings.details")}
          </TextButton>
        }
      />
      {before !== null && (
        <p>
          <Dim>
            {t("findings.beforeRun", { sentence: words(before.first.sentence) })}
            {before.more > 0 && ` ${t("findings.more", { count: before.more })}`}
          </Dim>
        </p>
      )}
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
