import { Popover, SegmentedControl, Select, useMantineColorScheme } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useId, useState } from "react";
import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import { sessionQuery } from "@/api/queries";
import { LANGUAGES, type Language, setLanguage } from "@/app/i18n";
import { useLeave } from "@/features/access/model/leave";
import { useView } from "@/lib/view/context";
import { Icon } from "@/ui/icon";
import { IconButton } from "@/ui/icon-button";
import classes from "./settings-menu.module.css";

export function SettingsMenu() {
  const { t } = useTranslation();
  const [open, setOpen] = useState(false);
  return (
    <Popover opened={open} onChange={setOpen} position="bottom-end" shadow="md" trapFocus returnFocus width={272}>
      <Popover.Target>
        <IconButton icon="globe" label={t("settings.label")} onClick={() => setOpen(!open)} aria-expanded={open} />
      </Popover.Target>
      <Popover.Dropdown aria-label={t("settings.label")}>
        <SettingsList />
      </Popover.Dropdown>
    </Popover>
  );
}

/** Language, colours, time zone, and who is signed in. */
export function SettingsList() {
  const { t, i18n } = useTranslation();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const view = useView();
  return (
    <div className={classes.list}>
      <Select
        label={t("settings.language")}
        size="sm"
        allowDeselect={false}
        comboboxProps={{ withinPortal: false }}
        data={Object.entries(LANGUAGES).map(([value, label]) => ({ value, label }))}
        value={i18n.resolvedLanguage ?? "en"}
        onChange={(value) => value !== null && setLanguage(value as Language)}
      />
      <Choice
        label={t("settings.scheme")}
        value={colorScheme}
        options={[
          ["auto", t("settings.scheme_auto")],
          ["light", t("settings.scheme_light")],
          ["dark", t("settings.scheme_dark")],
        ]}
        onChange={(value) => setColorScheme(value as typeof colorScheme)}
      />
      <Choice
        label={t("settings.zone")}
        value={view.zone}
        options={[
          ["local", t("settings.zone_local")],
          ["utc", t("settings.zone_utc")],
        ]}
        onChange={(value) => view.change({ zone: value === "utc" ? "utc" : "local" })}
      />
      <Identity />
    </div>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly value: string;
  readonly options: readonly (readonly [string, string])[];
  readonly onChange: (value: string) => void;
}

function Choice({ label, value, options, onChange }: ChoiceProps) {
  const id = useId();
  return (
    <div>
      <p id={id} className={classes.label}>
        {label}
      </p>
      <SegmentedControl
        aria-labelledby={id}
        fullWidth
        size="xs"
        value={value}
        onChange={onChange}
        data={options.map(([choice, text]) => ({ value: choice, label: text }))}
      />
    </div>
  );
}

function Identity() {
  const { t } = useTranslation();
  const leave = useLeave();
  const session = useQuery(sessionQuery);
  if (session.data === undefined || session.data.access === "open" || session.data.principal === null) return null;
  return (
    <div className={classes.identity}>
      <Link to="/access/account" className={classes.account}>
        {t("settings.signedInAs", { name: session.data.principal.name })}
      </Link>
      <button type="button" className={classes.leave} onClick={() => void leave()}>
        <Icon name="signOut" size={14} />
        {t("settings.signOut")}
      </button>
    </div>
  );
}
