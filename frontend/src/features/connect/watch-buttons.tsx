import { Button } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import { checkListener, watchListener } from "@/api/connect/queries";
import type { ConnectAnswer, Listener } from "@/api/connect/types";
import { FaultText } from "@/ui/fault/problem";
import { useChange } from "@/ui/use-change";
import { CheckAnswer } from "./check-answer";
import classes from "./connect.module.css";

interface Props {
  readonly listener: Listener;
  readonly config: string;
  readonly onWritten: () => void;
}

/** Tries the lines, or has them written; what came of it stands below until the next try. */
export function WatchButtons({ listener, config, onWritten }: Props) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const asked = { port: listener.port, digest: listener.digest };
  const check = useChange(() => checkListener(asked), { touches: [] });
  const watch = useChange<void, ConnectAnswer>(() => watchListener(asked), {
    touches: ["targets"],
    onDone: (answer) => {
      if (answer.written === null) return;
      onWritten();
      // The list that is being read stays; the next visit asks anew.
      void client.invalidateQueries({ queryKey: ["connect"], refetchType: "none" });
    },
  });
  const shown = watch.isIdle ? check : watch;
  const busy = check.isPending || watch.isPending;
  const written = watch.data?.written != null;
  return (
    <>
      <div className={classes.buttons}>
        <Button
          size="xs"
          variant="default"
          disabled={busy || written}
          onClick={() => {
            watch.reset();
            check.mutate();
          }}
        >
          {t("connect.check")}
        </Button>
        <Button size="xs" disabled={busy || written} onClick={() => watch.mutate()}>
          {t("connect.watch")}
        </Button>
        <span className={classes.target}>{t("connect.into", { path: config })}</span>
      </div>
      {/* Reserved from the start on, so that the answer is read out when it comes. */}
      <div role="status">
        {busy && <p className={classes.trying}>{t("connect.trying")}</p>}
        {!busy && shown.data !== undefined && <Answer answer={shown.data} wanted={shown === watch} />}
      </div>
      {!busy && <FaultText error={shown.error} />}
    </>
  );
}

/** `wanted`: the lines were to be written as well. */
function Answer({ answer, wanted }: { answer: ConnectAnswer; wanted: boolean }) {
  const { t } = useTranslation();
  return (
    <>
      <CheckAnswer collectors={answer.collectors} />
      {answer.written !== null && (
        <p className={classes.written}>
          {t("connect.written", { path: answer.written.path })}{" "}
          {answer.written.backup !== null && t("connect.backup", { path: answer.written.backup })}{" "}
          <Link to="/targets">{t("connect.toTargets")}</Link>
        </p>
      )}
      {wanted && answer.written === null && <p className={classes.written}>{t("connect.notWritten")}</p>}
    </>
  );
}
