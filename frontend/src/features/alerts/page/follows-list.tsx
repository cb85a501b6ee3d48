import { useTranslation } from "react-i18next";
import type { Alert, Incident } from "@/api/alerts/types";
import { Disclosure } from "@/ui/text/disclosure";
import { Hint } from "@/ui/text/text";
import { AlertRows } from "../card/alert-rows";
import classes from "./incident.module.css";

interface Props {
  readonly incident: Incident;
  /** The alert whose address was opened. */
  readonly opened: Alert;
  readonly now: number;
}

/** What follows from the cause, folded; open where somebody came by one of them. */
export function FollowsList({ incident, opened, now }: Props) {
  const { t } = useTranslation();
  const { follows, cause } = incident;
  if (follows.length === 0) return null;
  const total = incident.total - 1;
  return (
    <section className={classes.follows} aria-label={t("alerts.incident.others")}>
      <Disclosure
        summary={t(cause.finding === null ? "alerts.incident.sameRun" : "alerts.incident.follows", { total })}
        opened={opened.id !== cause.id}
      >
        <AlertRows alerts={follows} now={now} opened={opened.id} />
        {total > follows.length && <Hint>{t("alerts.incident.more", { total: total - follows.length })}</Hint>}
      </Disclosure>
    </section>
  );
}
