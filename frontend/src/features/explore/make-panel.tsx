import { NativeSelect, TextInput } from "@mantine/core";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { useLocation, useNavigate } from "react-router";
import type { Labels } from "@/api/explore/queries";
import { pinPanel } from "@/api/queries";
import { UNITS, type Unit, unitLabel } from "@/lib/units";
import { useLocale } from "@/lib/use-locale";
import { FaultText } from "@/ui/fault/problem";
import { FormDialog } from "@/ui/form/dialog";
import { notifyGood } from "@/ui/notify";
import { useChange } from "@/ui/use-change";
import { legendOf } from "./answers";

const MOST_TITLE = 120;

interface Props {
  readonly expression: string;
  readonly unit: Unit;
  /** Labels of what the expression answers now. */
  readonly found: readonly Labels[];
  readonly onClose: () => void;
}

/** Makes an expression a panel of the live page, and shows it there. */
export function MakePanel({ expression, unit: usual, found, onClose }: Props) {
  const { t } = useTranslation();
  const locale = useLocale();
  const navigate = useNavigate();
  const { search } = useLocation();
  const [title, setTitle] = useState(() => expression.replace(/\s+/g, " ").slice(0, MOST_TITLE));
  const [unit, setUnit] = useState(usual);
  const [legend, setLegend] = useState(() => legendOf(found));
  const pin = useChange(() => pinPanel({ title, expressions: [expression], unit, legend }), {
    touches: ["signals"],
    onDone: ({ id, file }) => {
      notifyGood(t("panel.pinned", { file }));
      void navigate({ pathname: "/", search, hash: `panel-${id}` });
    },
  });
  return (
    <FormDialog
      title={t("explore.makePanel")}
      submit={t("explore.makeDone")}
      busy={pin.isPending}
      disabled={title.trim() === ""}
      focus="submit"
      fault={<FaultText error={pin.error} what={t("panel.pinFailed")} />}
      onSubmit={() => pin.mutate()}
      onClose={onClose}
    >
      <TextInput
        label={t("explore.panelTitle")}
        value={title}
        maxLength={MOST_TITLE}
        onChange={(event) => setTitle(event.currentTarget.value)}
      />
      <NativeSelect
        label={t("explore.unit")}
        value={unit}
        data={UNITS.map((value) => ({ value, label: unitLabel(value, locale) }))}
        onChange={(event) => setUnit(UNITS.find((one) => one === event.currentTarget.value) ?? unit)}
      />
      <TextInput
        label={t("explore.panelLegend")}
        description={t("explore.panelLegendHint", { example: "{{instance}}" })}
        value={legend}
        maxLength={MOST_TITLE}
        onChange={(event) => setLegend(event.currentTarget.value)}
      />
    </FormDialog>
  );
}
