import { Button } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { markFinding, mutesQuery, precisionQuery, unmuteFinding } from "@/api/findings/queries";
import type { Finding, MarkInput } from "@/api/findings/types";
import { runQuery } from "@/api/runs/queries";
import { useMay } from "@/lib/access-scopes";
import { useTimes } from "@/lib/time/use-times";
import { FaultText } from "@/ui/fault/problem";
import { CardTools } from "@/ui/list/card";
import { Dim, TextButton } from "@/ui/text/text";
import { useChange } from "@/ui/use-change";
import { muteOf } from "../model/opinions";
import { MuteDialog, RejectDialog } from "./opinion-dialogs";

/** Whether people agree with a finding: it is kept with the run, and counts in this installation's precision. */
export function OpinionTools({ run, finding }: { run: string; finding: Finding }) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const [dialog, setDialog] = useState<"reject" | "mute" | null>(null);
  const may = useMay("runs:write");
  const precision = useQuery(precisionQuery).data?.findings.find(({ finding_id }) => finding_id === finding.id);
  const mark = useChange((body: MarkInput) => markFinding(run, body), {
    touches: ["findings"],
    onDone: (next) => client.setQueryData(runQuery(run).queryKey, next),
  });
  const say = (opinion: MarkInput["opinion"], reason = "") =>
    mark.mutate({ key: finding.key, opinion, reason, author: "" }, { onSuccess: () => setDialog(null) });
  return (
    <div>
      <Said finding={finding} />
      {precision !== undefined && precision.confirmed + precision.rejected > 0 && (
        <Dim>
          {t("findings.precision", {
            confirmed: precision.confirmed,
            count: precision.confirmed + precision.rejected,
          })}
        </Dim>
      )}
      {may && (
        <CardTools>
          {finding.mark == null ? (
            <>
              <Button size="compact-xs" variant="default" loading={mark.isPending} onClick={() => say("confirmed")}>
                {t("findings.confirm")}
              </Button>
              <Button size="compact-xs" variant="default" onClick={() => setDialog("reject")}>
                {t("findings.reject")}
              </Button>
            </>
          ) : (
            <TextButton onClick={() => say(null)}>{t("findings.takeBack")}</TextButton>
          )}
          {finding.muted ? (
            <Unmute finding={finding} />
          ) : (
            <Button size="compact-xs" variant="default" onClick={() => setDialog("mute")}>
              {t("findings.mute")}
            </Button>
          )}
        </CardTools>
      )}
      {dialog === null && <FaultText error={mark.error} />}
      {dialog === "reject" && (
        <RejectDialog
          finding={finding}
          busy={mark.isPending}
          error={mark.error}
          onReject={(reason) => say("rejected", reason)}
          onClose={() => setDialog(null)}
        />
      )}
      {dialog === "mute" && <MuteDialog finding={finding} onClose={() => setDialog(null)} />}
    </div>
  );
}

function Said({ finding }: { finding: Finding }) {
  const { t } = useTranslation();
  const times = useTimes();
  const { mark } = finding;
  if (mark == null) return null;
  const by = { author: mark.author || t("findings.nobody"), time: times.instant(mark.said_ms) };
  return (
    <p>
      <Dim>
        {t(`findings.mark_${mark.opinion}`)} {t("findings.saidBy", by)}
        {mark.reason !== "" && `: ${mark.reason}`}
      </Dim>
    </p>
  );
}

function Unmute({ finding }: { finding: Finding }) {
  const { t } = useTranslation();
  const mute = muteOf(finding, useQuery(mutesQuery).data?.mutes ?? []);
  const unmute = useChange(unmuteFinding, { touches: ["findings", "runs"] });
  if (mute === null) return null;
  return (
    <Button size="compact-xs" variant="default" loading={unmute.isPending} onClick={() => unmute.mutate(mute.id)}>
      {t("findings.unmute")}
    </Button>
  );
}
