import { Checkbox } from "@mantine/core";
import { useTranslation } from "react-i18next";
import type { EvidenceFile } from "@/api/evidence/types";
import { formatValue } from "@/lib/units";
import { useLocale } from "@/lib/use-locale";
import classes from "../list/runs-page.module.css";

const MAY_HOLD_SECRETS: ReadonlySet<EvidenceFile["kind"]> = new Set(["patch", "output", "access_log", "slow_log"]);

interface Props {
  readonly label: string;
  readonly hint: string;
  readonly files: readonly EvidenceFile[];
  readonly chosen: readonly string[];
  readonly onChoose: (chosen: readonly string[]) => void;
}

/** Which files of the run go along. */
export function FileChoice({ label, hint, files, chosen, onChoose }: Props) {
  const { t } = useTranslation();
  const locale = useLocale();
  if (files.length === 0) return null;
  return (
    <Checkbox.Group label={label} description={hint} value={[...chosen]} onChange={onChoose}>
      <ul className={classes.shares}>
        {files.map((file) => (
          <li key={file.id}>
            <Checkbox
              value={file.id}
              label={`${file.name} (${formatValue(file.bytes, "bytes", locale)})`}
              description={MAY_HOLD_SECRETS.has(file.kind) ? t("runs.share.secrets") : undefined}
            />
          </li>
        ))}
      </ul>
    </Checkbox.Group>
  );
}
