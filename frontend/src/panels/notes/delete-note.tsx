import { useTranslation } from "react-i18next";
import type { Note } from "@/api/types";
import classes from "@/panels/notes/notes.module.css";
import { useDeleteNote } from "@/panels/notes/use-notes";
import { FaultText } from "@/ui/fault/problem";
import { FormDialog } from "@/ui/form/dialog";
import { notifyGood } from "@/ui/notify";

/** Asks before an annotation goes for good. */
export function DeleteNote({ note, onClose }: { note: Note; onClose: () => void }) {
  const { t } = useTranslation();
  const remove = useDeleteNote();
  const confirm = () =>
    remove.mutate(note.id, {
      onSuccess: () => {
        notifyGood(t("note.deleted"));
        onClose();
      },
    });
  return (
    <FormDialog
      title={t("note.deleteTitle")}
      submit={t("action.delete")}
      busy={remove.isPending}
      danger
      fault={<FaultText error={remove.error} what={t("note.deleteFailed")} />}
      onSubmit={confirm}
      onClose={onClose}
    >
      <blockquote className={classes.quote}>{note.text}</blockquote>
      <p className={classes.meta}>{t("note.deleteHint")}</p>
    </FormDialog>
  );
}
