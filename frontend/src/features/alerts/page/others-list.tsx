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

/** The others of an incident, folded; open where somebody came by one of them. */
export function OthersList({ incident, opened, now }: Props) {
  const { t } = useTranslation();
  const { others, head } = incident;
  if (others.length === 0) return null;
  const total = incident.total - 1;
  return (
    <section className={classes.others} aria-label={t("alerts.incident.others", { total })}>
      <Disclosure summary={t("alerts.incident.others", { total })} opened={opened.id !== head.id}>
        <AlertRows alerts={others} now={now} opened={opened.id} />
        {total > others.length && <Hint>{t("alerts.incident.more", { total: total - others.length })}</Hint>}
      </Disclosure>
    </section>
  );
}
