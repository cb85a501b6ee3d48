import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { pinBaseline, runQuery, updateRun } from "@/api/runs/queries";
import type { Run, RunPatch } from "@/api/runs/types";
import { faultText } from "@/ui/fault/problem";
import { notifyProblem } from "@/ui/notify";

/** Changes of one run. The answer is the run as it is now, with the figures that followed. */
export function useRunUpdate(run: string) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const settle = (next: Run) => {
    client.setQueryData(runQuery(run).queryKey, next);
    // The list, other runs' baselines and the review's measured impact may follow; the run itself is fresh.
    void client.invalidateQueries({
      queryKey: ["runs"],
      predicate: ({ queryKey }) => !(queryKey[1] === "one" && queryKey[2] === run && queryKey.length === 3),
    });
  };
  const onError = (error: Error) => notifyProblem(t("runs.page.saveFailed"), faultText(error, t));
  const patch = useMutation({ mutationFn: (body: RunPatch) => updateRun(run, body), onSuccess: settle, onError });
  const pin = useMutation({ mutationFn: (pinned: boolean) => pinBaseline(run, pinned), onSuccess: settle, onError });
  return { patch, pin };
}
