import { useTranslation } from "react-i18next";
import type { Profile } from "@/api/profiles/types";
import { CommandLine } from "@/ui/command-line";
import { Section } from "@/ui/page/section";
import { Hint } from "@/ui/text/text";
import classes from "./profiles.module.css";

/** The files as they were taken, and the lines that open them elsewhere. */
export function Originals({ profiles, base }: { profiles: readonly Profile[]; base: readonly Profile[] }) {
  const { t } = useTranslation();
  const quoted = (profile: Profile) => `'${profile.name.replaceAll("'", "'\\''")}'`;
  const names = profiles.map(quoted).join(" ");
  const [before] = base;
  const against = before === undefined ? "" : `-diff_base ${quoted(before)} `;
  return (
    <Section title={t("profiles.original")}>
      <ul className={classes.orders}>
        {[...profiles, ...base].map((profile) => (
          <li key={profile.id}>
            <a href={`/api/evidence/${profile.id}`} download={profile.name}>
              {t("profiles.download", { name: profile.name })}
            </a>
          </li>
        ))}
      </ul>
      <Hint>{t("profiles.pprof")}</Hint>
      <CommandLine text={`go tool pprof -http=localhost:0 ${against}${names}`} />
      <Hint>{t("profiles.speedscope")}</Hint>
      <CommandLine text={`npx speedscope ${profiles[0] === undefined ? "" : quoted(profiles[0])}`} />
    </Section>
  );
}
