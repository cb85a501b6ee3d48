import { Autocomplete, TagsInput, Textarea, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { runFacetsQuery } from "@/api/runs/queries";
import type { RunFacets } from "@/api/runs/types";
import classes from "../list/runs-page.module.css";
import { type FactsDraft, factRows, factsProblems, type TypedFact } from "../model/facts";

/** Facts for which the values of other runs are offered. */
const OFFERED: { readonly [name in TypedFact["name"]]?: keyof RunFacets } = {
  scenario: "scenarios",
  branch: "branches",
  tags: "tags",
};

const HINT_BELOW = ["label", "input", "error", "description"] as const;

interface Props {
  readonly facts: FactsDraft;
  readonly onChange: (facts: FactsDraft) => void;
  readonly importing?: boolean;
}

/** Fields of what people say of a run. */
export function FactsFields({ facts, onChange, importing = false }: Props) {
  return factRows(importing).map((row) => (
    <div key={row[0]?.name} className={classes.pair}>
      {row.map((fact) => (
        <FactField key={fact.name} fact={fact} facts={facts} onChange={onChange} />
      ))}
    </div>
  ));
}

function FactField({ fact, facts, onChange }: Omit<Props, "importing"> & { readonly fact: TypedFact }) {
  const { t } = useTranslation();
  const facets = useQuery(runFacetsQuery).data;
  const facet = OFFERED[fact.name];
  const wrong = factsProblems(facts).includes(fact.name);
  const set = (value: string | readonly string[]) => onChange({ ...facts, [fact.name]: value });
  const label = t(`runs.fact_${fact.name}`);
  const offers = {
    data: facet === undefined ? [] : (facets?.[facet].map(({ value }) => value) ?? []),
    comboboxProps: { withinPortal: false },
  };
  const hintBelow = { inputWrapperOrder: [...HINT_BELOW] };
  switch (fact.kind) {
    case "text": {
      const field = { label, value: facts[fact.name], maxLength: fact.most };
      if (facet !== undefined) return <Autocomplete {...field} {...offers} onChange={set} />;
      return <TextInput {...field} onChange={(event) => set(event.currentTarget.value)} />;
    }
    case "number":
      return (
        <TextInput
          label={label}
          placeholder="600"
          value={facts[fact.name]}
          error={wrong ? t("runs.factProblem_number") : null}
          onChange={(event) => set(event.currentTarget.value)}
        />
      );
    case "texts": {
      const field = { label, ...offers, maxTags: fact.most, value: [...facts[fact.name]], onChange: set };
      if (fact.name !== "thresholds") return <TagsInput {...field} />;
      const placeholder = facts.thresholds.length === 0 ? "p95<300ms" : "";
      const hint = t("runs.factHint_thresholds");
      return <TagsInput {...field} {...hintBelow} description={hint} placeholder={placeholder} splitChars={[";"]} />;
    }
    case "links":
      return (
        <Textarea
          {...{ label, ...hintBelow, autosize: true, minRows: 2 }}
          description={t("runs.factHint_links")}
          value={facts[fact.name]}
          error={wrong ? t("runs.factProblem_links") : null}
          onChange={(event) => set(event.currentTarget.value)}
        />
      );
  }
}
