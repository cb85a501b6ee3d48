import { keepPreviousData, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useMemo } from "react";
import { addNote, changeNote, deleteNote, notesQuery } from "@/api/queries";
import type { Note, NoteInput, NotePatch } from "@/api/types";
import type { ChartNote } from "@/charts/chart-types";
import type { Range } from "@/lib/time/time";

const NONE: readonly Note[] = [];

/** Others annotate too; the list is read again every so often. */
const REFRESH_MS = 15_000;

/** Annotations within a range. The range is widened to whole spans, so that a moving one asks rarely. */
export function useNotes(range: Range) {
  const spanMs = Math.max(60_000, range.endMs - range.startMs);
  const startMs = Math.max(0, Math.floor(range.startMs / spanMs) * spanMs);
  const endMs = Math.ceil(range.endMs / spanMs) * spanMs;
  const query = useQuery({
    ...notesQuery(startMs, endMs),
    refetchInterval: REFRESH_MS,
    placeholderData: keepPreviousData,
    retry: false,
  });
  const notes = query.data?.annotations ?? NONE;
  const marks = useMemo(() => notes.map(toMark), [notes]);
  return { notes, marks, error: query.error };
}

function toMark(note: Note): ChartNote {
  return { id: String(note.id), text: note.text, startMs: note.start_ms, endMs: note.end_ms, author: note.author };
}

export interface NoteChange {
  /** Null makes a new annotation. */
  readonly id: number | null;
  readonly input: NoteInput;
}

export function useSaveNote() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ id, input }: NoteChange) => (id === null ? addNote(input) : changeNote(id, patchOf(input))),
    onSuccess: () => client.invalidateQueries({ queryKey: ["notes"] }),
  });
}

/** The form shows every field, so every field is sent. */
function patchOf(input: NoteInput): NotePatch {
  return {
    author: input.author,
    text: input.text,
    start_ms: input.start_ms,
    end_ms: input.end_ms ?? null,
    tags: input.tags ?? [],
  };
}

export function useDeleteNote() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: deleteNote,
    onSuccess: () => client.invalidateQueries({ queryKey: ["notes"] }),
  });
}
