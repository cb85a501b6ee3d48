import { Button } from "@mantine/core";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { findAgain } from "@/api/findings/queries";
import type { FindingsAgain } from "@/api/findings/types";
import type { Run } from "@/api/runs/types";
import { useMay } from "@/lib/access-scopes";
import { useWords } from "@/panels/findings/words";
import { FaultText } from "@/ui/fault/problem";
import { Hint, TextButton } from "@/ui/text/text";
import { useChange } from "@/ui/use-change";

/** What this version of the engine says of a run, beside what was said; kept only when asked for. */
export function ComputeAgain({ run }: { run: Run }) {
  const { t } = useTranslation();
  const words = useWords();
  const [found, setFound] = useState<FindingsAgain | null>(null);
  const look = useChange(() => findAgain(run.id, false), { touches: [], onDone: setFound });
  const keep = useChange(() => findAgain(run.id, true), { touches: ["runs"], onDone: () => setFound(null) });
  const may = useMay("runs:write");
  if (run.state === "running" || !may) return null;
  const fault = look.error ?? keep.error;
  return (
    <div>
      {found === null ? (
        <TextButton
          onClick={() => (run.diagnosis === null ? keep : look).mutate()}
          disabled={look.isPending || keep.isPending}
        >
          {t("findings.again")}
        </TextButton>
      ) : (
        <div role="status">
          <Hint>
            {t(found.changes.length > 0 ? "findings.againOther" : "findings.againSame", { engine: found.now.engine })}
          </Hint>
          <ul>
            {found.changes.map((one) => (
              <li key={`${one.change} ${one.key}`}>
                {t(`findings.change_${one.change}`, { title: words(one.title) })}
              </li>
            ))}
          </ul>
          {found.changes.length > 0 && (
            <Button size="compact-xs" variant="default" loading={keep.isPending} onClick={() => keep.mutate()}>
              {t("findings.againKeep")}
            </Button>
          )}
        </div>
      )}
      {fault !== null && <FaultText error={fault} />}
    </div>
  );
}
