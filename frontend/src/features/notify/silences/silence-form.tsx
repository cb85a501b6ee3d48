import { Textarea } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { saveSilence, silencePreviewQuery } from "@/api/notify/queries";
import type { SilenceInput } from "@/api/notify/types";
import { serverNow } from "@/api/server-clock";
import { useView } from "@/lib/view/context";
import { FaultText } from "@/ui/fault/problem";
import { FormDialog } from "@/ui/form/dialog";
import { Icon } from "@/ui/icon";
import { Hint } from "@/ui/text/text";
import { useChange } from "@/ui/use-change";
import { isLabelName, type Matcher } from "../model/matchers";
import {
  checkSilence,
  filledMatchers,
  type SilenceDraft,
  type SilenceField,
  type SilenceProblems,
} from "../model/silence";
import classes from "../notify.module.css";
import { MatchersEditor } from "./matchers-editor";
import { SilenceOften } from "./silence-often";
import { SilenceWhen } from "./silence-when";

/** Makes or changes a silence. */
export function SilenceForm({ draft: given, onClose }: { draft: SilenceDraft; onClose: () => void }) {
  const { t } = useTranslation();
  const { zone } = useView();
  const [draft, setDraft] = useState(given);
  const [problems, setProblems] = useState<SilenceProblems>({});
  const set = (part: Partial<SilenceDraft>) => setDraft((held) => ({ ...held, ...part }));
  const words = (field: SilenceField) => {
    const problem = problems[field];
    return problem === undefined ? null : t(`notify.problem_${problem}`);
  };
  const save = useChange((values: SilenceInput) => saveSilence(draft.id, values), {
    touches: ["notify", "alerts"],
    said: t("notify.silences.saved"),
    onDone: onClose,
  });
  const submit = () => {
    const checked = checkSilence(draft, zone, serverNow());
    setProblems("problems" in checked ? checked.problems : {});
    if ("values" in checked) save.mutate(checked.values);
  };
  return (
    <FormDialog
      title={t(draft.id === null ? "notify.silences.addTitle" : "notify.silences.editTitle")}
      size="lg"
      submit={t(draft.id === null ? "notify.silences.silence" : "action.save")}
      busy={save.isPending}
      fault={<FaultText error={save.error} />}
      onSubmit={submit}
      onClose={onClose}
    >
      <MatchersEditor matchers={draft.matchers} onChange={(matchers) => set({ matchers })} error={words("matchers")} />
      <Preview matchers={draft.matchers} />
      <SilenceWhen draft={draft} onChange={set} words={words} />
      <SilenceOften draft={draft} onChange={set} words={words} />
      <Textarea
        label={t("notify.silences.comment")}
        placeholder={t("notify.silences.commentHint")}
        value={draft.comment}
        onChange={(event) => set({ comment: event.currentTarget.value })}
        error={words("comment")}
        maxLength={2000}
        autosize
        minRows={2}
        maxRows={6}
        required
        withAsterisk={false}
        {...(given.matchers[0]?.name !== "" && { "data-autofocus": true })}
      />
    </FormDialog>
  );
}

/** Which alerts of now the conditions match, and a warning when they match nearly everything. */
function Preview({ matchers }: { matchers: readonly Matcher[] }) {
  const { t } = useTranslation();
  const [asked] = useDebouncedValue(filledMatchers(matchers), 250);
  const whole = asked.length > 0 && asked.every(({ name }) => isLabelName(name));
  const preview = useQuery({
    ...silencePreviewQuery(asked),
    enabled: whole,
    placeholderData: keepPreviousData,
    retry: false,
  });
  if (!whole) return null;
  return (
    <div aria-live="polite">
      <FaultText error={preview.error} />
      {preview.data && !preview.isError && (
        <Hint>
          {preview.data.alerts === 0
            ? t("notify.preview.none")
            : t("notify.preview.some", { alerts: preview.data.alerts, names: preview.data.names.join(", ") })}
        </Hint>
      )}
      {preview.data?.everything && !preview.isError && (
        <p className={classes.warn}>
          <Icon name="warning" size={13} />
          {t("notify.preview.everything")}
        </p>
      )}
    </div>
  );
}
