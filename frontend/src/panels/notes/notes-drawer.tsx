import { Button, Drawer } from "@mantine/core";
import { useTranslation } from "react-i18next";
import type { Note } from "@/api/types";
import { formatDuration, formatInstant } from "@/lib/time/time";
import { useLocale } from "@/lib/use-locale";
import { useView } from "@/lib/view/context";
import classes from "@/panels/notes/notes.module.css";
import { FaultText } from "@/ui/fault/problem";
import { IconButton } from "@/ui/icon-button";
import { Tag, Tags } from "@/ui/text/tag";

interface Props {
  readonly opened: boolean;
  readonly onClose: () => void;
  readonly notes: readonly Note[];
  readonly error: Error | null;
  readonly onAdd: () => void;
  readonly onEdit: (note: Note) => void;
  readonly onDelete: (note: Note) => void;
}

/** All annotations of the range as a list. */
export function NotesDrawer({ opened, onClose, notes, error, onAdd, onEdit, onDelete }: Props) {
  const { t } = useTranslation();
  const { zone } = useView();
  const locale = useLocale();
  const when = (note: Note) => {
    const start = formatInstant(Math.floor(note.start_ms / 1000) * 1000, zone, locale);
    return note.end_ms === null ? start : `${start} (${formatDuration(note.end_ms - note.start_ms, locale)})`;
  };
  return (
    <Drawer
      opened={opened}
      onClose={onClose}
      position="right"
      size="26rem"
      title={t("note.title")}
      closeButtonProps={{ "aria-label": t("action.close") }}
    >
      <Button size="xs" onClick={onAdd}>
        {t("note.add")}
      </Button>
      <FaultText error={error} what={t("note.failed")} />
      {error === null && notes.length === 0 && (
        <p className={classes.none}>
          <strong>{t("note.none")}.</strong> {t("note.noneHint")}
        </p>
      )}
      <ul>
        {notes.map((note) => (
          <li key={note.id} className={classes.item} data-span={note.end_ms !== null}>
            <p className={classes.text}>{note.text}</p>
            <p className={classes.meta}>
              {when(note)} · {t("note.by", { author: note.author })}
              {note.updated_ms > note.created_ms && ` · ${t("note.edited")}`}
            </p>
            <Cause note={note} />
            {note.tags.length > 0 && (
              <Tags>
                {note.tags.map((tag) => (
                  <li key={tag}>
                    <Tag small>{tag}</Tag>
                  </li>
                ))}
              </Tags>
            )}
            <div className={classes.itemTools}>
              <IconButton
                icon="edit"
                size={26}
                label={`${t("action.edit")}: ${note.text}`}
                onClick={() => onEdit(note)}
              />
              <IconButton
                icon="trash"
                size={26}
                label={`${t("action.delete")}: ${note.text}`}
                onClick={() => onDelete(note)}
              />
            </div>
          </li>
        ))}
      </ul>
    </Drawer>
  );
}

/** The change that an annotation notes: its commit, and the issue behind it, as a link where it is an address. */
export function Cause({ note: { commit, issue } }: { note: Pick<Note, "commit" | "issue"> }) {
  const { t } = useTranslation();
  if (commit === "" && issue === "") return null;
  return (
    <p className={classes.meta}>
      {commit !== "" && (
        <>
          {t("note.commit")} <code>{commit}</code>{" "}
        </>
      )}
      {issue !== "" && t("note.issue")}{" "}
      {/^https?:\/\//.test(issue) ? (
        <a href={issue} target="_blank" rel="noreferrer">
          {issue}
        </a>
      ) : (
        issue
      )}
    </p>
  );
}
