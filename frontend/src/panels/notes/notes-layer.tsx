import { useHotkeys } from "@mantine/hooks";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { serverNow } from "@/api/server-clock";
import type { Note } from "@/api/types";
import { useView } from "@/lib/view/context";
import { readPreference } from "@/lib/view/preferences";
import { DeleteNote } from "@/panels/notes/delete-note";
import { NoteForm } from "@/panels/notes/note-form";
import { NotesDrawer } from "@/panels/notes/notes-drawer";
import { draftOf, type NoteDraft, newDraft } from "./note-draft";

/** What the rest of a page can ask of the annotations' forms. */
export interface NotesHandle {
  add(startMs: number, endMs: number | null): void;
  edit(note: Note): void;
  openById(id: string): void;
  list(): void;
}

interface Props {
  readonly notes: readonly Note[];
  readonly error: Error | null;
  readonly onReady: (handle: NotesHandle) => void;
}

type Open = { readonly kind: "form"; readonly draft: NoteDraft } | { readonly kind: "delete"; readonly note: Note };

/** The annotations' forms, list and keys: N adds one, A lists them. */
export function NotesLayer({ notes, error, onReady }: Props) {
  const { zone } = useView();
  const [open, setOpen] = useState<Open | null>(null);
  const [listed, setListed] = useState(false);
  const latest = useRef(notes);
  useEffect(() => {
    latest.current = notes;
  }, [notes]);
  const edit = useCallback((note: Note) => setOpen({ kind: "form", draft: draftOf(note, zone) }), [zone]);
  const add = useCallback(
    (startMs: number, endMs: number | null) => {
      setOpen({ kind: "form", draft: newDraft(readPreference("author") ?? "", startMs, endMs, zone) });
    },
    [zone],
  );
  const handle = useMemo(
    (): NotesHandle => ({
      add,
      edit,
      openById: (id) => {
        const note = latest.current.find((one) => String(one.id) === id);
        if (note) edit(note);
      },
      list: () => setListed(true),
    }),
    [add, edit],
  );
  useEffect(() => onReady(handle), [onReady, handle]);
  useHotkeys([
    ["N", () => add(serverNow(), null)],
    ["A", () => setListed((now) => !now)],
  ]);
  const remove = (id: number) => {
    const note = notes.find((one) => one.id === id);
    if (note) setOpen({ kind: "delete", note });
  };
  return (
    <>
      <NotesDrawer
        opened={listed}
        onClose={() => setListed(false)}
        notes={notes}
        error={error}
        onAdd={() => add(serverNow(), null)}
        onEdit={edit}
        onDelete={(note) => remove(note.id)}
      />
      {open?.kind === "form" && <NoteForm draft={open.draft} onClose={() => setOpen(null)} onDelete={remove} />}
      {open?.kind === "delete" && <DeleteNote note={open.note} onClose={() => setOpen(null)} />}
    </>
  );
}
