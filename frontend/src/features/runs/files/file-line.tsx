import { Textarea } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { deleteEvidence, evidenceAddress, evidenceTextQuery, noteEvidence } from "@/api/evidence/queries";
import type { EvidenceFile } from "@/api/evidence/types";
import { formatInstant } from "@/lib/time/time";
import { formatValue } from "@/lib/units";
import { useLocale } from "@/lib/use-locale";
import { useView } from "@/lib/view/context";
import { FaultText } from "@/ui/fault/problem";
import { FormDialog } from "@/ui/form/dialog";
import { IconButton } from "@/ui/icon-button";
import { Loading } from "@/ui/loading";
import { Dim, Excerpt, TextButton } from "@/ui/text/text";
import { useChange } from "@/ui/use-change";
import classes from "./files.module.css";
import { factTexts, isPicture, isShown } from "./model";

/** One file: what it is, what is said of it, and what can be done with it. */
export function FileLine({ file, may }: { file: EvidenceFile; may: boolean }) {
  const { t } = useTranslation();
  const { zone } = useView();
  const locale = useLocale();
  const [open, setOpen] = useState(false);
  const [dialog, setDialog] = useState<"note" | "remove" | null>(null);
  const { name, kind } = file;
  const said = [
    t(`files.kind_${kind}`),
    ...factTexts(file).map(([key, count]) => t(`files.${key}`, { count })),
    formatValue(file.bytes, "bytes", locale),
    formatInstant(file.at_ms, zone, locale),
    ...(file.author !== "" && kind === "attachment" ? [t("files.by", { author: file.author })] : []),
  ];
  return (
    <li className={classes.file}>
      <div className={classes.line}>
        <a href={evidenceAddress(file.id)} download={name} aria-label={t("files.download", { name })}>
          {name}
        </a>
        <Dim>{said.join(" · ")}</Dim>
        <span className={classes.tools}>
          {isShown(file) && (
            <TextButton
              aria-expanded={open}
              aria-label={t(open ? "files.hideOf" : "files.showOf", { name })}
              onClick={() => setOpen(!open)}
            >
              {open ? t("files.hide") : t("files.show")}
            </TextButton>
          )}
          {may && (
            <>
              <IconButton
                icon="edit"
                label={t(file.note === "" ? "files.addNote" : "files.editNote", { name })}
                onClick={() => setDialog("note")}
              />
              <IconButton icon="trash" label={t("files.remove", { name })} onClick={() => setDialog("remove")} />
            </>
          )}
        </span>
      </div>
      {file.note !== "" && <p className={classes.note}>{file.note}</p>}
      {isPicture(file) && (
        <img
          className={classes.preview}
          src={evidenceAddress(file.id)}
          alt={file.note || t("files.picture", { name })}
          loading="lazy"
        />
      )}
      {open && <Content id={file.id} />}
      {dialog === "note" && <NoteDialog file={file} onClose={() => setDialog(null)} />}
      {dialog === "remove" && <RemoveDialog file={file} onClose={() => setDialog(null)} />}
    </li>
  );
}

function Content({ id }: { id: string }) {
  const text = useQuery(evidenceTextQuery(id, true));
  if (text.isPending) return <Loading height={96} />;
  if (text.isError) return <FaultText error={text.error} />;
  return <Excerpt>{String(text.data)}</Excerpt>;
}

function NoteDialog({ file, onClose }: { file: EvidenceFile; onClose: () => void }) {
  const { t } = useTranslation();
  const [note, setNote] = useState(file.note);
  const change = useChange(() => noteEvidence(file.id, note.trim()), {
    touches: ["evidence"],
    said: t("files.noted"),
    onDone: onClose,
  });
  return (
    <FormDialog
      title={t("files.noteOf", { name: file.name })}
      submit={t("action.save")}
      busy={change.isPending}
      fault={<FaultText error={change.error} />}
      onSubmit={() => change.mutate()}
      onClose={onClose}
    >
      <Textarea
        label={t("files.note")}
        value={note}
        maxLength={2000}
        autosize
        minRows={2}
        data-autofocus
        onChange={(event) => setNote(event.currentTarget.value)}
      />
    </FormDialog>
  );
}

function RemoveDialog({ file, onClose }: { file: EvidenceFile; onClose: () => void }) {
  const { t } = useTranslation();
  const change = useChange(() => deleteEvidence(file.id), {
    touches: ["evidence", "profiles"],
    said: t("files.removed"),
    onDone: onClose,
  });
  return (
    <FormDialog
      title={t("files.removeTitle", { name: file.name })}
      submit={t("action.delete")}
      busy={change.isPending}
      danger
      fault={<FaultText error={change.error} />}
      onSubmit={() => change.mutate()}
      onClose={onClose}
    >
      <p>{t("files.removeHint")}</p>
    </FormDialog>
  );
}
