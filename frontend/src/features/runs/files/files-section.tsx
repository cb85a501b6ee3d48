import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { attach, evidenceQuery } from "@/api/evidence/queries";
import type { Run } from "@/api/runs/types";
import { useMay } from "@/lib/access-scopes";
import { formatValue } from "@/lib/units";
import { useLocale } from "@/lib/use-locale";
import { QueryFault } from "@/ui/fault/query-fault";
import { Section } from "@/ui/page/section";
import { Hint } from "@/ui/text/text";
import { useChange } from "@/ui/use-change";
import { BringButton, type Bringing, DropZone } from "./bring";
import { FileLine } from "./file-line";
import classes from "./files.module.css";

const RUNNING_MS = 10_000;

/** What is kept with a run beside its figures; profiles have a section of their own. */
export function FilesSection({ run }: { run: Run }) {
  const { t } = useTranslation();
  const locale = useLocale();
  const running = run.state === "running" && !run.silent;
  const list = useQuery({ ...evidenceQuery(run.id), refetchInterval: running ? RUNNING_MS : false });
  const bringing = useAttaching(run.id);
  const files = (list.data?.files ?? []).filter(({ kind }) => kind !== "profile");
  const size = (bytes: number) => formatValue(bytes, "bytes", locale);
  return (
    <Section
      id="files"
      title={t("files.title")}
      aside={
        <span className={classes.tools}>
          {list.data !== undefined && list.data.files.length > 0 && (
            <span>
              {t("files.used", {
                count: list.data.files.length,
                size: size(list.data.bytes),
                most: size(list.data.most_run_bytes),
              })}
            </span>
          )}
          <BringButton bringing={bringing} />
        </span>
      }
    >
      <QueryFault title={t("files.failed")} query={list} />
      <DropZone bringing={bringing}>
        {files.length > 0 && (
          <ul className={classes.list} aria-label={t("files.list")}>
            {files.map((file) => (
              <FileLine key={file.id} file={file} may={bringing.may} />
            ))}
          </ul>
        )}
        {list.data !== undefined && (
          <>
            {files.length === 0 && <p>{t("files.none")}</p>}
            {bringing.may && (
              <div className={classes.tools}>
                <Hint>
                  {t("files.hint", { file: size(list.data.most_file_bytes), run: size(list.data.most_run_bytes) })}
                </Hint>
              </div>
            )}
          </>
        )}
      </DropZone>
    </Section>
  );
}

/** Keeps files with the run, one after another. */
function useAttaching(run: string): Bringing {
  const { t } = useTranslation();
  const may = useMay("runs:write");
  const change = useChange(
    async (files: readonly File[]) => {
      for (const file of files) await attach(run, file).answer;
    },
    { touches: ["evidence"], said: t("files.added") },
  );
  return {
    may,
    busy: change.isPending,
    error: change.error,
    bring: (files) => change.mutate(files),
    button: t("files.add"),
    dropHere: t("files.dropHere"),
  };
}
