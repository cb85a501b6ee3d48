import { Button, Modal } from "@mantine/core";
import { useTranslation } from "react-i18next";
import type { Note } from "@/api/types";
import classes from "@/panels/notes/notes.module.css";
import { useDeleteNote } from "@/panels/notes/use-notes";
import { FaultText } from "@/ui/fault/problem";
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
    <Modal
      opened
      onClose={onClose}
      title={t("note.deleteTitle")}
      closeButtonProps={{ "aria-label": t("action.close") }}
    >
      <blockquote className={classes.quote}>{note.text}</blockquote>
      <p className={classes.meta}>{t("note.deleteHint")}</p>
      <FaultText error={remove.error} what={t("note.deleteFailed")} />
      <div className={classes.buttons}>
        <Button variant="default" onClick={onClose} data-autofocus>
          {t("action.cancel")}
        </Button>
        <Button color="red" onClick={confirm} loading={remove.isPending}>
          {t("action.delete")}
        </Button>
      </div>
    </Modal>
  );
}
