import { Autocomplete, Button, NativeSelect, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { alertLabelsQuery } from "@/api/notify/queries";
import { Problem } from "@/ui/fault/problem";
import { Icon } from "@/ui/icon";
import { IconButton } from "@/ui/icon-button";
import { type Matcher, OPERATORS, parseMatcher } from "../model/matchers";
import classes from "./matchers-editor.module.css";

interface Props {
  readonly matchers: readonly Matcher[];
  readonly onChange: (matchers: readonly Matcher[]) => void;
  readonly error: string | null;
}

/** Conditions as rows of name, operator and value; names and values of the alerts of now are proposed. */
export function MatchersEditor({ matchers, onChange, error }: Props) {
  const { t } = useTranslation();
  const alerts = useQuery({ ...alertLabelsQuery, staleTime: 10_000 });
  const labels = (alerts.data?.alerts ?? []).map((one) => one.labels);
  const names = unique(labels.flatMap(Object.keys));
  const set = (place: number, part: Partial<Matcher>) =>
    onChange(matchers.map((one, at) => (at === place ? { ...one, ...part } : one)));
  return (
    <fieldset className={classes.editor}>
      <legend>{t("notify.matchers")}</legend>
      <ul className={classes.rows}>
        {matchers.map((matcher, place) => (
          // A row is its place: there is nothing else by which to tell two empty ones apart.
          // biome-ignore lint/suspicious/noArrayIndexKey: see above
          <li key={place} className={classes.row}>
            <Autocomplete
              className={classes.name ?? ""}
              aria-label={t("notify.matcherName", { place: place + 1 })}
              placeholder="alertname"
              data={names}
              comboboxProps={{ withinPortal: false }}
              value={matcher.name}
              onChange={(name) => set(place, { name })}
              onBlur={() => {
                // Somebody who types or pastes `severity="page"` means the whole row.
                const whole = matcher.value === "" ? parseMatcher(matcher.name) : null;
                if (whole !== null) set(place, whole);
              }}
              spellCheck={false}
              autoCapitalize="none"
              {...(place === 0 && matcher.name === "" && { "data-autofocus": true })}
            />
            <NativeSelect
              className={classes.operator ?? ""}
              aria-label={t("notify.matcherOperator", { place: place + 1 })}
              value={matcher.operator}
              onChange={(event) => {
                const operator = OPERATORS.find((one) => one === event.currentTarget.value);
                if (operator !== undefined) set(place, { operator });
              }}
              data={OPERATORS.map((value) => ({ value, label: value }))}
            />
            <ValueField
              label={t("notify.matcherValue", { place: place + 1 })}
              matcher={matcher}
              values={unique(labels.flatMap((one) => one[matcher.name] ?? []))}
              onChange={(value) => set(place, { value })}
            />
            <IconButton
              icon="close"
              size={36}
              className={classes.remove ?? ""}
              label={t("notify.removeMatcher", { place: place + 1 })}
              disabled={matchers.length === 1}
              onClick={() => onChange(matchers.filter((_, at) => at !== place))}
            />
          </li>
        ))}
      </ul>
      {error !== null && <Problem>{error}</Problem>}
      <Button
        size="compact-sm"
        variant="subtle"
        leftSection={<Icon name="plus" size={13} />}
        onClick={() => onChange([...matchers, { name: "", operator: "=", value: "" }])}
      >
        {t("notify.addMatcher")}
      </Button>
    </fieldset>
  );
}

interface ValueProps {
  readonly label: string;
  readonly matcher: Matcher;
  readonly values: string[];
  readonly onChange: (value: string) => void;
}

function ValueField({ label, matcher, values, onChange }: ValueProps) {
  const shared = { className: classes.value ?? "", "aria-label": label, value: matcher.value, spellCheck: false };
  if (matcher.operator === "=~" || matcher.operator === "!~") {
    return <TextInput {...shared} placeholder="page|warn" onChange={(event) => onChange(event.currentTarget.value)} />;
  }
  return <Autocomplete {...shared} data={values} comboboxProps={{ withinPortal: false }} onChange={onChange} />;
}

function unique(values: readonly string[]): string[] {
  return [...new Set(values)].sort();
}
