import { Button, Modal, Skeleton } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { useNavigate } from "react-router";
import { deleteRun, runDeletionQuery } from "@/api/runs/queries";
import type { Deletion, Run } from "@/api/runs/types";
import { formatCount, runTitle } from "@/lib/run-text";
import { formatValue } from "@/lib/units";
import { useLocale } from "@/lib/use-locale";
import { FaultText } from "@/ui/fault/problem";
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
  const error = deletion.error ?? remove.error;
  return (
    <Modal
      opened
      onClose={onClose}
      title={t("runs.delete.title", { run: runTitle(run) })}
      closeButtonProps={{ "aria-label": t("action.close") }}
    >
      {deletion.isPending && <Skeleton height={96} radius={4} animate={false} />}
      {deletion.data && <WhatGoes deletion={deletion.data} />}
      <p>{t("runs.delete.final")}</p>
      <FaultText error={error} />
      <div className={classes.buttons}>
        <Button variant="default" onClick={onClose} data-autofocus>
          {t("action.cancel")}
        </Button>
        <Button
          className={classes.dangerButton ?? ""}
          loading={remove.isPending}
          disabled={deletion.data === undefined}
          onClick={() => remove.mutate()}
        >
          {t("runs.delete.confirm")}
        </Button>
      </div>
    </Modal>
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
      {deletion.was_baseline && <li>{t("runs.delete.baseline")}</li>}
      <li>{deletion.samples_past_retention ? t("runs.delete.samplesGo") : t("runs.delete.samplesStay")}</li>
    </ul>
  );
}
