import { Autocomplete, TagsInput, Textarea, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { runFacetsQuery } from "@/api/runs/queries";
import classes from "../list/runs-page.module.css";
import { type FactsDraft, factsProblems } from "../model/facts";

interface Props {
  readonly facts: FactsDraft;
  readonly onChange: (facts: FactsDraft) => void;
  /** An import takes no links and no author. */
  readonly links: boolean;
}

/** Fields of what people say of a run; what other runs have is offered. */
export function FactsFields({ facts, onChange, links }: Props) {
  const { t } = useTranslation();
  const facets = useQuery(runFacetsQuery).data;
  const problems = factsProblems(facts);
  const set = (part: Partial<FactsDraft>) => onChange({ ...facts, ...part });
  const within = { comboboxProps: { withinPortal: false } };
  return (
    <>
      <TextInput
        label={t("runs.fact_name")}
        value={facts.name}
        maxLength={200}
        onChange={(event) => set({ name: event.currentTarget.value })}
      />
      <div className={classes.pair}>
        <Autocomplete
          label={t("runs.fact_scenario")}
          {...within}
          value={facts.scenario}
          maxLength={200}
          data={facets?.scenarios.map(({ value }) => value) ?? []}
          onChange={(scenario) => set({ scenario })}
        />
        <TextInput
          label={t("runs.fact_version")}
          value={facts.scenarioVersion}
          maxLength={200}
          onChange={(event) => set({ scenarioVersion: event.currentTarget.value })}
        />
      </div>
      <div className={classes.pair}>
        <TextInput
          label={t("runs.fact_commit")}
          value={facts.commit}
          maxLength={200}
          onChange={(event) => set({ commit: event.currentTarget.value })}
        />
        <Autocomplete
          label={t("runs.fact_branch")}
          {...within}
          value={facts.branch}
          maxLength={200}
          data={facets?.branches.map(({ value }) => value) ?? []}
          onChange={(branch) => set({ branch })}
        />
      </div>
      <div className={classes.pair}>
        <TextInput
          label={t("runs.fact_rate")}
          placeholder="600"
          value={facts.targetRate}
          error={problems.includes("targetRate") ? t("runs.fact_rateProblem") : null}
          onChange={(event) => set({ targetRate: event.currentTarget.value })}
        />
        {links && (
          <TextInput
            label={t("runs.fact_author")}
            value={facts.author}
            maxLength={200}
            onChange={(event) => set({ author: event.currentTarget.value })}
          />
        )}
      </div>
      <TagsInput
        label={t("runs.fact_thresholds")}
        description={t("runs.fact_thresholdsHint")}
        inputWrapperOrder={["label", "input", "error", "description"]}
        placeholder={facts.thresholds.length === 0 ? "p95<300ms" : ""}
        splitChars={[";"]}
        acceptValueOnBlur
        {...within}
        value={[...facts.thresholds]}
        onChange={(thresholds) => set({ thresholds })}
      />
      <TagsInput
        label={t("runs.fact_tags")}
        {...within}
        maxTags={20}
        value={[...facts.tags]}
        data={facets?.tags.map(({ value }) => value) ?? []}
        onChange={(tags) => set({ tags })}
      />
      {links && (
        <Textarea
          label={t("runs.fact_links")}
          description={t("runs.fact_linksHint")}
          inputWrapperOrder={["label", "input", "error", "description"]}
          autosize
          minRows={2}
          value={facts.links}
          error={problems.includes("links") ? t("runs.fact_linksProblem") : null}
          onChange={(event) => set({ links: event.currentTarget.value })}
        />
      )}
    </>
  );
}
