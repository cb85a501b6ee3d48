import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { useNavigate } from "react-router";
import { deleteRun, runDeletionQuery } from "@/api/runs/queries";
import type { Deletion, Run } from "@/api/runs/types";
import { formatCount, runTitle } from "@/lib/run-text";
import { formatValue } from "@/lib/units";
import { useLocale } from "@/lib/use-locale";
import { FaultText } from "@/ui/fault/problem";
import { FormDialog } from "@/ui/form/dialog";
import { Loading } from "@/ui/loading";
import { notifyGood } from "@/ui/notify";
import classes from "../list/runs-page.module.css";

/** Says what will go before anything goes. */
export function DeleteRun({ run, onClose }: { run: Run; onClose: () => void }) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const navigate = useNavigate();
  const deletion = useQuery(runDeletionQuery(run.id));
  const remove = useMutation({
    mutationFn: () => deleteRun(run.id),
    onSuccess: async () => {
      notifyGood(t("runs.delete.done"));
      await navigate("/runs");
      client.removeQueries({ queryKey: ["runs", "one", run.id] });
      await client.invalidateQueries({ queryKey: ["runs"] });
    },
  });
  return (
    <FormDialog
      title={t("runs.delete.title", { run: runTitle(run) })}
      submit={t("runs.delete.confirm")}
      busy={remove.isPending}
      disabled={deletion.data === undefined}
      danger
      fault={<FaultText error={deletion.error ?? remove.error} />}
      onSubmit={() => remove.mutate()}
      onClose={onClose}
    >
      {deletion.isPending && <Loading height={96} />}
      {deletion.data && <WhatGoes deletion={deletion.data} />}
      <p>{t("runs.delete.final")}</p>
    </FormDialog>
  );
}

function WhatGoes({ deletion }: { deletion: Deletion }) {
  const { t } = useTranslation();
  const locale = useLocale();
  const count = (value: number) => formatCount(value);
  return (
    <ul className={classes.goes}>
      <li>
        {t("runs.delete.records", {
          records: count(deletion.records),
          size: formatValue(deletion.record_bytes, "bytes", locale),
        })}
      </li>
      {deletion.reviews > 0 && <li>{t("runs.delete.reviews", { value: count(deletion.reviews) })}</li>}
      {deletion.snapshots > 0 && <li>{t("runs.delete.snapshots", { value: count(deletion.snapshots) })}</li>}
      {deletion.shares > 0 && <li>{t("runs.delete.shares", { value: count(deletion.shares) })}</li>}
      {deletion.markers > 0 && <li>{t("runs.delete.markers", { value: count(deletion.markers) })}</li>}
      {deletion.evidence_files > 0 && (
        <li>
          {t("runs.delete.evidence", {
            value: count(deletion.evidence_files),
            size: formatValue(deletion.evidence_bytes, "bytes", locale),
          })}
        </li>
      )}
      {deletion.was_baseline && <li>{t("runs.delete.baseline")}</li>}
      <li>{deletion.samples_past_retention ? t("runs.delete.samplesGo") : t("runs.delete.samplesStay")}</li>
    </ul>
  );
}
