import { Button, Checkbox, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { runSnapshotsQuery } from "@/api/runs/queries";
import { useLocale } from "@/lib/use-locale";
import { FaultText } from "@/ui/fault/problem";
import { Icon } from "@/ui/icon";
import table from "@/ui/list/table.module.css";
import { Loading } from "@/ui/loading";
import { Dim, Hint } from "@/ui/text/text";
import { filterSettings, settingRows, settingText } from "../model/changes";
import classes from "../page/run-page.module.css";

const MOST_ROWS = 300;

/** Every fact of every target, before and after the run. */
export function AllSettings({ run, onClose }: { run: string; onClose: () => void }) {
  const { t } = useTranslation();
  const locale = useLocale();
  const [everything, setEverything] = useState(false);
  const [text, setText] = useState("");
  const snapshots = useQuery(runSnapshotsQuery(run, everything));
  const rows = useMemo(() => {
    const of = (when: "before" | "after") =>
      snapshots.data?.snapshots.find((snapshot) => snapshot.when === when)?.settings ?? [];
    return settingRows(of("before"), of("after"));
  }, [snapshots.data]);
  const shown = filterSettings(rows, text);
  return (
    <div className={classes.settings}>
      <div className={classes.settingTools}>
        <TextInput
          size="xs"
          type="search"
          aria-label={t("runs.page.filterSettings")}
          placeholder={t("runs.page.filterSettings")}
          leftSection={<Icon name="search" size={12} />}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
        />
        <Checkbox
          size="xs"
          label={t("runs.page.everything")}
          checked={everything}
          onChange={(event) => setEverything(event.currentTarget.checked)}
        />
        <Button size="compact-xs" variant="default" onClick={onClose}>
          {t("action.close")}
        </Button>
      </div>
      {snapshots.isPending && <Loading height={120} />}
      <FaultText error={snapshots.error} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <section className={classes.tallScroll} tabIndex={0} aria-label={t("runs.page.allSettings")}>
        <table className={`${table.table} ${classes.table}`}>
          <thead>
            <tr>
              <th scope="col">{t("runs.page.setting")}</th>
              <th scope="col">{t("runs.page.target_system")}</th>
              <th scope="col" data-number>
                {t("runs.page.before")}
              </th>
              <th scope="col" data-number>
                {t("runs.page.after")}
              </th>
            </tr>
          </thead>
          <tbody>
            {shown.slice(0, MOST_ROWS).map((row) => (
              <tr key={`${row.target} ${row.section} ${row.key}`}>
                <th scope="row">
                  <code>{row.key}</code> <Dim>{row.section}</Dim>
                </th>
                <td>{row.target}</td>
                <td data-number>{row.before === null ? "–" : settingText(row.before, row.unit, locale)}</td>
                <td data-number>
                  {row.after === row.before ? (
                    <Dim>{t("runs.page.same")}</Dim>
                  ) : (
                    <strong>{row.after === null ? "–" : settingText(row.after, row.unit, locale)}</strong>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {shown.length > MOST_ROWS && <Hint>{t("runs.page.moreRows", { shown: MOST_ROWS, total: shown.length })}</Hint>}
    </div>
  );
}
