import { useDebouncedCallback } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useCallback, useState } from "react";
import { routeAnswerQuery } from "@/api/notify/queries";
import { useParams, withParams } from "@/lib/use-params";
import { formatLabels, parseLabels } from "../model/matchers";

/** The labels that are asked about: as text while typed, in the address once they pause. */
export function useRouteQuestion() {
  const [params, edit] = useParams();
  const [text, setText] = useState(() => params.getAll("label").join("\n"));
  const asked = parseLabels(params.getAll("label").join("\n")).labels;
  const some = Object.keys(asked).length > 0;
  const answer = useQuery({
    ...routeAnswerQuery(asked),
    enabled: some,
    refetchInterval: 5000,
    ...(some && { placeholderData: keepPreviousData }),
  });
  const ask = useCallback(
    (next: string) => {
      edit((held) => {
        const changed = withParams(held, { label: null });
        for (const line of formatLabels(parseLabels(next).labels).split("\n")) {
          if (line !== "") changed.append("label", line);
        }
        return changed;
      }, true);
    },
    [edit],
  );
  const askSoon = useDebouncedCallback(ask, 250);
  return {
    text,
    problems: parseLabels(text).problems,
    some,
    answer,
    type: (next: string) => {
      setText(next);
      askSoon(next);
    },
    pick: (labels: Readonly<Record<string, string>>) => {
      const next = formatLabels(labels);
      setText(next);
      askSoon.cancel();
      ask(next);
    },
  };
}

export type RouteQuestionState = ReturnType<typeof useRouteQuestion>;
