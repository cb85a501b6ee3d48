import { MultiSelect, TagsInput, Textarea, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { sessionQuery, signalsQuery } from "@/api/queries";
import type { ActionStanding } from "@/api/runs/types";
import { useLocale } from "@/lib/use-locale";
import type { ReviewText } from "../model/review";
import { ActionRows } from "./actions/action-rows";
import { ExpectedRows } from "./expected-rows";
import classes from "./review.module.css";
import { reviewAuthor, setReviewAuthor } from "./use-review";

interface Props {
  readonly text: ReviewText;
  readonly onEdit: (part: Partial<ReviewText>) => void;
  /** Stands beside what was expected. */
  readonly measured: ReactNode;
  readonly standings: readonly ActionStanding[];
}

/** Figures of the run itself that can be watched beside signals. */
const RUN_METRICS = ["rate", "ok_rate", "success_ratio", "error_rate", "p50", "p90", "p95", "p99", "max"] as const;

/** The form of the team's review; each change saves itself. */
export function ReviewForm({ text, onEdit, measured, standings }: Props) {
  const { t } = useTranslation();
  // What was written before there were actions stays, and stays where it is while it is emptied.
  const [worded, setWorded] = useState(false);
  if (!worded && text.next_action !== "") setWorded(true);
  return (
    <>
      <div className={classes.form}>
        <div className={classes.column}>
          <Words field="approach" text={text} onEdit={onEdit} rows={3} />
          <ExpectedRows rows={text.expected} onChange={(expected) => onEdit({ expected })} />
          <Monitored value={text.monitored} onChange={(monitored) => onEdit({ monitored })} />
          <div>
            <h3 className={classes.label}>{t("runs.review.measured")}</h3>
            {measured}
          </div>
        </div>
        <div className={classes.column}>
          <Words field="outcome" text={text} onEdit={onEdit} rows={3} />
          {worded && <Words field="next_action" text={text} onEdit={onEdit} rows={2} />}
          <Words field="feedback" text={text} onEdit={onEdit} rows={2} />
          <TagsInput
            label={t("runs.review.field_attendees")}
            comboboxProps={{ withinPortal: false }}
            maxTags={50}
            acceptValueOnBlur
            value={[...text.attendees]}
            onChange={(attendees) => onEdit({ attendees })}
          />
          <Author />
        </div>
      </div>
      <ActionRows actions={text.actions} standings={standings} onChange={(actions) => onEdit({ actions })} />
    </>
  );
}

interface WordsProps extends Pick<Props, "text" | "onEdit"> {
  readonly field: "approach" | "outcome" | "next_action" | "feedback";
  readonly rows: number;
}

function Words({ field, text, onEdit, rows }: WordsProps) {
  const { t } = useTranslation();
  return (
    <Textarea
      label={t(`runs.review.field_${field}`)}
      placeholder={t(`runs.review.hint_${field}`)}
      autosize
      minRows={rows}
      maxRows={18}
      maxLength={20_000}
      value={text[field]}
      onChange={(event) => onEdit({ [field]: event.currentTarget.value })}
    />
  );
}

function Monitored({ value, onChange }: { value: readonly string[]; onChange: (value: readonly string[]) => void }) {
  const { t } = useTranslation();
  const catalogue = useQuery(signalsQuery(useLocale()));
  const data = useMemo(() => {
    const signals = catalogue.data?.signals ?? [];
    const known = new Set<string>([...RUN_METRICS, ...signals.map((signal) => signal.id)]);
    const strange = value.filter((id) => !known.has(id));
    return [
      { group: t("runs.review.runFigures"), items: RUN_METRICS.map((id) => ({ value: id, label: id })) },
      {
        group: t("runs.review.signals"),
        items: [
          ...signals.map((signal) => ({ value: signal.id, label: `${signal.title} (${signal.id})` })),
          // What was chosen once stays, also when its signal has left the catalogue.
          ...strange.map((id) => ({ value: id, label: id })),
        ],
      },
    ];
  }, [catalogue.data, value, t]);
  return (
    <MultiSelect
      label={t("runs.review.field_monitored")}
      placeholder={value.length === 0 ? t("runs.review.hint_monitored") : ""}
      searchable
      maxValues={50}
      limit={60}
      comboboxProps={{ withinPortal: false }}
      nothingFoundMessage={t("palette.empty")}
      value={[...value]}
      data={data}
      onChange={onChange}
    />
  );
}

/** Who writes, where nobody signs in: the name that annotations bear too. */
function Author() {
  const { t } = useTranslation();
  const [name, setName] = useState(reviewAuthor);
  const session = useQuery({ ...sessionQuery, retry: false });
  if (session.data?.principal?.kind !== "local") return null;
  return (
    <TextInput
      label={t("runs.review.author")}
      description={t("note.authorHint")}
      inputWrapperOrder={["label", "input", "error", "description"]}
      autoComplete="name"
      maxLength={100}
      value={name}
      onChange={(event) => {
        setName(event.currentTarget.value);
        setReviewAuthor(event.currentTarget.value);
      }}
    />
  );
}
