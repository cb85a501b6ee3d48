import { Button, Checkbox, TagsInput, Textarea, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { sessionQuery } from "@/api/queries";
import { serverNow } from "@/api/server-clock";
import { readTime, writeTime } from "@/lib/time/input";
import { resolvePoint } from "@/lib/time/range";
import { useView } from "@/lib/view/context";
import { writePreference } from "@/lib/view/preferences";
import { useSaveNote } from "@/panels/notes/use-notes";
import { TimeField } from "@/panels/range/time-field";
import { FaultText } from "@/ui/fault/problem";
import { FormDialog } from "@/ui/form/dialog";
import { notifyGood } from "@/ui/notify";
import { checkDraft, type DraftProblems, type NoteDraft } from "./note-draft";

interface Props {
  readonly draft: NoteDraft;
  readonly onClose: () => void;
  readonly onDelete: ((id: number) => void) | null;
}

/** Adds or changes one annotation. */
export function NoteForm({ draft: given, onClose, onDelete }: Props) {
  const { t } = useTranslation();
  const { zone } = useView();
  const [draft, setDraft] = useState(given);
  const [problems, setProblems] = useState<DraftProblems>({});
  const save = useSaveNote();
  const session = useQuery({ ...sessionQuery, retry: false });
  const set = (part: Partial<NoteDraft>) => setDraft((held) => ({ ...held, ...part }));
  const words = (field: keyof DraftProblems) => {
    const problem = problems[field];
    return problem === undefined ? null : t(`note.${problem}`);
  };
  const wall = (text: string) => {
    const point = readTime(text, zone);
    return point === null ? null : writeTime(Math.floor(resolvePoint(point, serverNow()) / 1000) * 1000, zone);
  };
  const submit = () => {
    const checked = checkDraft(draft, zone, serverNow());
    if ("problems" in checked) {
      setProblems(checked.problems);
      return;
    }
    setProblems({});
    writePreference("author", checked.values.author);
    save.mutate(
      { id: draft.id, input: checked.values },
      {
        onSuccess: () => {
          notifyGood(t("note.saved"));
          onClose();
        },
      },
    );
  };
  return (
    <FormDialog
      title={draft.id === null ? t("note.addTitle") : t("note.editTitle")}
      submit={draft.id === null ? t("action.add") : t("action.save")}
      busy={save.isPending}
      fault={<FaultText error={save.error} what={t("note.saveFailed")} />}
      aside={
        draft.id !== null &&
        onDelete !== null && (
          <Button variant="default" mr="auto" onClick={() => draft.id !== null && onDelete(draft.id)}>
            {t("action.delete")}…
          </Button>
        )
      }
      onSubmit={submit}
      onClose={onClose}
    >
      <Textarea
        label={t("note.text")}
        placeholder={t("note.textHint")}
        value={draft.text}
        onChange={(event) => set({ text: event.currentTarget.value })}
        error={words("text")}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) submit();
        }}
        autosize
        minRows={2}
        maxRows={8}
        maxLength={4000}
        data-autofocus
      />
      <TimeField
        label={draft.isSpan ? t("note.spanStart") : t("note.start")}
        value={draft.start}
        onChange={(start) => set({ start })}
        pickLabel={t("range.calendar")}
        timeLabel={t("note.start")}
        error={words("start")}
        wallTime={wall(draft.start)}
      />
      <Checkbox
        label={t("note.isSpan")}
        checked={draft.isSpan}
        onChange={(event) => {
          const isSpan = event.currentTarget.checked;
          set(isSpan && draft.end === "" ? { isSpan, end: writeTime(serverNow(), zone) } : { isSpan });
        }}
      />
      {draft.isSpan && (
        <TimeField
          label={t("note.end")}
          value={draft.end}
          onChange={(end) => set({ end })}
          pickLabel={t("range.calendar")}
          timeLabel={t("note.end")}
          error={words("end")}
          wallTime={wall(draft.end)}
        />
      )}
      {session.data?.principal?.kind === "local" && (
        <TextInput
          label={t("note.author")}
          description={t("note.noAuthorHint")}
          inputWrapperOrder={["label", "input", "description"]}
          value={draft.author}
          onChange={(event) => set({ author: event.currentTarget.value })}
          placeholder={session.data.principal.name}
          maxLength={100}
          autoComplete="name"
        />
      )}
      <TextInput
        label={t("note.commit")}
        value={draft.commit}
        onChange={(event) => set({ commit: event.currentTarget.value })}
        maxLength={100}
      />
      <TextInput
        label={t("note.issue")}
        description={t("note.issueHint")}
        inputWrapperOrder={["label", "input", "description"]}
        value={draft.issue}
        onChange={(event) => set({ issue: event.currentTarget.value })}
        maxLength={200}
      />
      <TagsInput
        label={t("note.tags")}
        description={t("note.tagsHint")}
        inputWrapperOrder={["label", "input", "error", "description"]}
        value={[...draft.tags]}
        onChange={(tags) => set({ tags })}
        maxTags={20}
      />
    </FormDialog>
  );
}
