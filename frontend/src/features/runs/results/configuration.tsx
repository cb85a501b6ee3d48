import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import { runDifferenceQuery } from "@/api/runs/queries";
import type { ConfigurationChange, Run } from "@/api/runs/types";
import { useLocale } from "@/lib/use-locale";
import { FaultText } from "@/ui/fault/problem";
import { Table } from "@/ui/list/table";
import { Loading } from "@/ui/loading";
import { Section } from "@/ui/page/section";
import { Dim, Hint, TextButton } from "@/ui/text/text";
import { changeGroups, settingText } from "../model/changes";
import classes from "../page/run-page.module.css";
import { AllSettings } from "./all-settings";

/** What differs from the baseline: first what somebody set, then what drifts by itself. */
export function Configuration({ run }: { run: Run }) {
  const { t } = useTranslation();
  const [everything, setEverything] = useState(false);
  const base = run.baseline !== null && run.baseline !== run.id ? run.baseline : null;
  return (
    <Section
      id="configuration"
      title={t("runs.page.nav_configuration")}
      aside={
        base !== null && (
          <>
            {t("runs.page.against")} <Link to={`/runs/${base}`}>{base}</Link>
          </>
        )
      }
    >
      {base === null ? (
        <Hint>{run.is_baseline ? t("runs.page.isBaseline") : t("runs.page.noBaseline")}</Hint>
      ) : (
        <Difference run={run.id} base={base} />
      )}
      {run.has_snapshots ? (
        everything ? (
          <AllSettings run={run.id} onClose={() => setEverything(false)} />
        ) : (
          <Button size="compact-xs" variant="default" onClick={() => setEverything(true)}>
            {t("runs.page.allSettings")}
          </Button>
        )
      ) : (
        <Hint>{t("runs.page.noSnapshots")}</Hint>
      )}
    </Section>
  );
}

function Difference({ run, base }: { run: string; base: string }) {
  const { t } = useTranslation();
  const [minor, setMinor] = useState(false);
  const difference = useQuery(runDifferenceQuery(run, base));
  const groups = useMemo(() => changeGroups(difference.data?.changes ?? []), [difference.data]);
  if (difference.isPending) return <Loading height={80} />;
  if (difference.isError) return <FaultText error={difference.error} />;
  if (difference.data.missing !== null) return <Hint>{difference.data.missing}</Hint>;
  const { deliberate, drift, rest } = groups;
  return (
    <>
      {deliberate.length + drift.length + rest.length === 0 && <Hint>{t("runs.page.noChange")}</Hint>}
      {deliberate.length > 0 && <Changes title={t("runs.page.deliberate")} changes={deliberate} />}
      {drift.length > 0 && <Changes title={t("runs.page.drift")} changes={drift} />}
      {rest.length > 0 &&
        (minor ? (
          <Changes title={t("runs.page.otherChanges")} changes={rest} />
        ) : (
          <TextButton onClick={() => setMinor(true)}>{t("runs.page.moreChanges", { count: rest.length })}</TextButton>
        ))}
    </>
  );
}

function Changes({ title, changes }: { title: string; changes: readonly ConfigurationChange[] }) {
  const { t } = useTranslation();
  const locale = useLocale();
  const text = (value: string | null, unit: string) =>
    value === null ? t("runs.page.unset") : settingText(value, unit, locale);
  return (
    <Table label={title} bare className={classes.table} data-fixed="true">
      <caption className={classes.caption}>{title}</caption>
      <thead>
        <tr>
          <th scope="col">{t("runs.page.setting")}</th>
          <th scope="col">{t("runs.page.target_system")}</th>
          <th scope="col" data-number>
            {t("runs.page.baseline")}
          </th>
          <th scope="col" data-number>
            {t("runs.page.thisRun")}
          </th>
        </tr>
      </thead>
      <tbody>
        {changes.map((change) => (
          <tr key={`${change.target} ${change.section} ${change.key}`}>
            <th scope="row">
              <code>{change.key}</code> <Dim>{change.section}</Dim>
            </th>
            <td>{change.target}</td>
            <td data-number data-dim="true" title={change.before ?? undefined}>
              {text(change.before, change.unit)}
            </td>
            <td data-number title={change.after ?? undefined}>
              <strong>{text(change.after, change.unit)}</strong>
            </td>
          </tr>
        ))}
      </tbody>
    </Table>
  );
}
