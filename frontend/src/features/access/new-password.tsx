import { PasswordInput } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { StateMark, type Tone } from "@/ui/state-mark";
import classes from "./access.module.css";
import { passwordStrength, SHORTEST_PASSWORD } from "./model/text";

export interface PasswordDraft {
  readonly first: string;
  readonly again: string;
}

export const NO_PASSWORD: PasswordDraft = { first: "", again: "" };

const TONES: Readonly<Record<ReturnType<typeof passwordStrength>, Tone>> = {
  short: "unknown",
  weak: "bad",
  fair: "warn",
  good: "ok",
};

/** Whether both fields hold the same password, and one that is long enough. */
export function isWhole({ first, again }: PasswordDraft): boolean {
  return passwordStrength(first) !== "short" && first === again;
}

interface Props {
  readonly value: PasswordDraft;
  readonly onChange: (value: PasswordDraft) => void;
}

/** A new password, twice, with a word on its strength. */
export function NewPassword({ value, onChange }: Props) {
  const { t } = useTranslation();
  const strength = passwordStrength(value.first);
  const differs = value.again !== "" && !value.first.startsWith(value.again) && value.again !== value.first;
  return (
    <>
      <PasswordInput
        label={t("users.newPassword")}
        description={t("users.passwordHint", { length: SHORTEST_PASSWORD })}
        value={value.first}
        onChange={(event) => onChange({ ...value, first: event.currentTarget.value })}
        autoComplete="new-password"
        maxLength={1000}
        required
        withAsterisk={false}
        visibilityToggleButtonProps={{ "aria-label": t("users.showPassword") }}
      />
      {value.first !== "" && (
        <p className={classes.strength} aria-live="polite">
          <StateMark tone={TONES[strength]} label={t(`users.strength_${strength}`)} />
        </p>
      )}
      <PasswordInput
        label={t("users.passwordAgain")}
        value={value.again}
        onChange={(event) => onChange({ ...value, again: event.currentTarget.value })}
        error={differs ? t("users.passwordDiffers") : null}
        autoComplete="new-password"
        maxLength={1000}
        required
        withAsterisk={false}
        visibilityToggleButtonProps={{ "aria-label": t("users.showPassword") }}
      />
    </>
  );
}
