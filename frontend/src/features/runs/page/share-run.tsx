import { Button, NativeSelect, TextInput } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { evidenceQuery } from "@/api/evidence/queries";
import { createShare, deleteShare, runFiles, sharesQuery } from "@/api/runs/queries";
import type { Run, Share } from "@/api/runs/types";
import { formatInstant } from "@/lib/time/time";
import { useLocale } from "@/lib/use-locale";
import { useView } from "@/lib/view/context";
import { CommandLine } from "@/ui/command-line";
import { FaultText } from "@/ui/fault/problem";
import { Dialog } from "@/ui/form/dialog";
import { Buttons, Form } from "@/ui/form/form";
import { IconButton } from "@/ui/icon-button";
import { Dim, Hint } from "@/ui/text/text";
import classes from "../list/runs-page.module.css";
import { FileChoice } from "./file-choice";

const DAYS = [1, 7, 30, 90] as const;

/** Links to the run's report for people without access, each until it expires. */
export function ShareRun({ run, onClose }: { run: Run; onClose: () => void }) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const [days, setDays] = useState(7);
  const [note, setNote] = useState("");
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const locale = useLocale();
  const shares = useQuery(sharesQuery(run.id));
  const kept = useQuery(evidenceQuery(run.id));
  const files = (kept.data?.files ?? []).filter((file) => chosen.includes(file.id)).map((file) => file.id);
  const settle = () => client.invalidateQueries({ queryKey: sharesQuery(run.id).queryKey });
  const create = useMutation({ mutationFn: () => createShare(run.id, days, note.trim(), files), onSuccess: settle });
  const revoke = useMutation({
    mutationFn: deleteShare,
    onSuccess: (_, id) => {
      if (create.data?.id === id) create.reset();
      return settle();
    },
  });
  const error = shares.error ?? kept.error ?? create.error ?? revoke.error;
  return (
    <Dialog onClose={onClose} title={t("runs.share.title")} size="lg">
      <Form onSubmit={() => create.mutate()}>
        <Hint>{t("runs.share.hint")}</Hint>
        <div className={classes.pair}>
          <NativeSelect
            label={t("runs.share.days")}
            value={days}
            onChange={(event) => setDays(Number(event.currentTarget.value))}
            data={DAYS.map((value) => ({ value: String(value), label: t(`runs.share.days_${value}`) }))}
          />
          <TextInput
            label={t("runs.share.note")}
            placeholder={t("runs.share.noteHint")}
            maxLength={200}
            value={note}
            onChange={(event) => setNote(event.currentTarget.value)}
          />
        </div>
        <FileChoice
          label={t("runs.share.files")}
          hint={t("runs.share.filesHint")}
          files={kept.data?.files ?? []}
          chosen={chosen}
          onChoose={setChosen}
        />
        <Buttons>
          {files.length > 0 && (
            <Button
              variant="default"
              component="a"
              href={runFiles.report(run.id, "html", locale, files)}
              target="_blank"
              rel="noreferrer"
            >
              {t("runs.share.report")}
            </Button>
          )}
          <Button type="submit" loading={create.isPending}>
            {t("runs.share.create")}
          </Button>
        </Buttons>
      </Form>
      {create.data?.path != null && (
        <>
          <p>
            <strong>{t("runs.share.once")}</strong>
          </p>
          <CommandLine text={new URL(create.data.path, globalThis.location.origin).href} />
        </>
      )}
      <FaultText error={error} />
      <ShareList shares={shares.data?.shares ?? []} onRevoke={(id) => revoke.mutate(id)} />
    </Dialog>
  );
}

function ShareList({ shares, onRevoke }: { shares: readonly Share[]; onRevoke: (id: string) => void }) {
  const { t } = useTranslation();
  const { zone } = useView();
  const locale = useLocale();
  if (shares.length === 0) return null;
  return (
    <ul className={classes.shares} aria-label={t("runs.share.list")}>
      {shares.map((share) => (
        <li key={share.id}>
          <span>
            {share.note || share.id}{" "}
            <Dim>
              {share.files.length > 0 && `${t("runs.share.withFiles", { count: share.files.length })} `}
              {t("runs.share.until", { time: formatInstant(Math.floor(share.expires_ms / 1000) * 1000, zone, locale) })}
            </Dim>
          </span>
          <IconButton
            icon="trash"
            label={`${t("runs.share.revoke")}: ${share.note || share.id}`}
            onClick={() => onRevoke(share.id)}
          />
        </li>
      ))}
    </ul>
  );
}
