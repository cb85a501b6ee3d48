import { Button, Checkbox, NativeSelect, TextInput } from "@mantine/core";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { createToken } from "@/api/access/queries";
import type { Scope } from "@/api/access/types";
import { serverNow } from "@/api/server-clock";
import { DAY } from "@/lib/time/time";
import { CommandLine } from "@/ui/command-line";
import { Dialog, FormDialog } from "@/ui/form/dialog";
import { Buttons, Form } from "@/ui/form/form";
import { Hint, NameLine } from "@/ui/text/text";
import { useChange } from "@/ui/use-change";
import classes from "../access.module.css";
import { FaultText } from "../fault-text";
import { SCOPES, useScopeWords } from "../model/use-scope-words";

const DAYS = ["0", "1", "30", "90", "365"] as const;

/** A new token: name, scopes and expiry, then the token itself, once. */
export function CreateToken({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation();
  const words = useScopeWords();
  const [name, setName] = useState("");
  const [scopes, setScopes] = useState<readonly Scope[]>([]);
  const [days, setDays] = useState<(typeof DAYS)[number]>("90");
  const create = useChange(
    () =>
      createToken({
        name: name.trim(),
        scopes: [...scopes],
        jobs: [],
        expires_ms: days === "0" ? null : serverNow() + Number(days) * DAY,
      }),
    { touches: ["access"] },
  );
  const toggle = (scope: Scope) =>
    setScopes((held) => (held.includes(scope) ? held.filter((one) => one !== scope) : [...held, scope]));
  if (create.data !== undefined) {
    return (
      <Dialog onClose={onClose} size="lg" title={t("users.token.add")} closeOnClickOutside={false}>
        <Form onSubmit={onClose}>
          <NameLine>{t("users.token.once")}</NameLine>
          <CommandLine text={create.data.token} />
          <Hint>{t("users.token.onceHint")}</Hint>
          <Buttons>
            <Button type="submit">{t("users.token.kept")}</Button>
          </Buttons>
        </Form>
      </Dialog>
    );
  }
  return (
    <FormDialog
      title={t("users.token.add")}
      size="lg"
      submit={t("users.token.make")}
      busy={create.isPending}
      disabled={name.trim() === "" || scopes.length === 0}
      fault={<FaultText error={create.error} />}
      onSubmit={() => create.mutate()}
      onClose={onClose}
    >
      <TextInput
        label={t("users.token.name")}
        description={t("users.token.nameHint")}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        autoComplete="off"
        spellCheck={false}
        maxLength={63}
        data-autofocus
        required
        withAsterisk={false}
      />
      <fieldset className={classes.fieldset}>
        <legend>{t("users.token.scopes")}</legend>
        <div className={classes.options}>
          {SCOPES.map((scope) => (
            <Checkbox
              key={scope}
              label={words(scope).name}
              description={words(scope).hint}
              checked={scopes.includes(scope)}
              onChange={() => toggle(scope)}
            />
          ))}
        </div>
      </fieldset>
      <NativeSelect
        label={t("users.token.expiry")}
        value={days}
        onChange={(event) => setDays(DAYS.find((one) => one === event.currentTarget.value) ?? "90")}
        data={DAYS.map((value) => ({ value, label: t(`users.days_${value}`) }))}
      />
    </FormDialog>
  );
}
