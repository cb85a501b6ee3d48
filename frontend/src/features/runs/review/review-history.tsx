import { Button, Drawer } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { reviewHistoryQuery } from "@/api/runs/queries";
import { formatInstant } from "@/lib/time/time";
import { useLocale } from "@/lib/use-locale";
import { useView } from "@/lib/view/context";
import { FaultText } from "@/ui/fault/problem";
import { Loading } from "@/ui/loading";
import { notifyGood } from "@/ui/notify";
import { Dim } from "@/ui/text/text";
import { REVIEW_FIELDS, type ReviewField, type ReviewText } from "../model/review";
import { wordsOf } from "./actions/action";
import classes from "./review.module.css";
import { textOf } from "./use-review";

interface Props {
  readonly run: string;
  readonly onClose: () => void;
  readonly onRestore: (text: ReviewText) => void;
}

/** All versions, the newest first, each with what it changed; restoring one writes a new version. */
export function ReviewHistoryDrawer({ run, onClose, onRestore }: Props) {
  const { t } = useTranslation();
  const { zone } = useView();
  const locale = useLocale();
  const history = useQuery(reviewHistoryQuery(run));
  const versions = history.data?.versions ?? [];
  return (
    <Drawer
      opened
      onClose={onClose}
      position="right"
      size="30rem"
      title={t("runs.review.history")}
      closeButtonProps={{ "aria-label": t("action.close") }}
    >
      {history.isPending && <Loading height={120} />}
      <FaultText error={history.error} />
      <ol className={classes.versions}>
        {versions.map((version, place) => {
          const text = textOf(version);
          const before = versions[place + 1];
          const former = before === undefined ? null : textOf(before);
          const changed = REVIEW_FIELDS.filter((field) =>
            former === null ? fieldText(text, field) !== "" : fieldText(former, field) !== fieldText(text, field),
          );
          return (
            <li key={version.version}>
              <div className={classes.versionHead}>
                <span>
                  <strong>{t("runs.review.version", { version: version.version })}</strong>{" "}
                  <Dim>
                    {formatInstant(version.updated_ms, zone, locale)}
                    {version.author !== "" && `, ${version.author}`}
                  </Dim>
                </span>
                {place > 0 && (
                  <Button
                    size="compact-xs"
                    variant="default"
                    aria-label={t("runs.review.restoreVersion", { version: version.version })}
                    onClick={() => {
                      onRestore(text);
                      notifyGood(t("runs.review.restored", { version: version.version }));
                      onClose();
                    }}
                  >
                    {t("runs.review.restore")}
                  </Button>
                )}
              </div>
              <dl>
                {changed.map((field) => (
                  <div key={field}>
                    <dt>{t(`runs.review.field_${field}`)}</dt>
                    <dd>{fieldText(text, field) || t("runs.review.blank")}</dd>
                  </div>
                ))}
              </dl>
            </li>
          );
        })}
      </ol>
    </Drawer>
  );
}

/** A field as plain text, a line for each of its entries. */
function fieldText(text: ReviewText, field: ReviewField): string {
  const value = text[field];
  if (typeof value === "string") return value;
  return value
    .map((item) =>
      typeof item === "string"
        ? item
        : ("id" in item ? wordsOf(item).slice(1) : [item.expression, item.note]).filter(Boolean).join(" – "),
    )
    .join("\n");
}
