import { useComputedColorScheme } from "@mantine/core";
import { useMemo } from "react";
import { useTranslation } from "react-i18next";
import type { ProfileView } from "@/api/profiles/types";
import { FlameGraph, type FlameTexts } from "@/charts/flame/flame-graph";
import { formatValue } from "@/lib/units";
import { useLocale } from "@/lib/use-locale";
import { Section } from "@/ui/page/section";
import { flameData, formatOf, growth, signed } from "./model";
import { useKindText } from "./profile-facts";

/** The stacks of a view as a flame graph, with the words of this page. */
export function ProfileFlame({ view, search }: { view: ProfileView; search: string }) {
  const { t } = useTranslation();
  const locale = useLocale();
  const scheme = useComputedColorScheme("light");
  const text = useKindText();
  const data = useMemo(() => flameData(view, t("profiles.root")), [view, t]);
  const texts = useMemo((): FlameTexts => {
    const format = formatOf(view.type.unit, locale);
    const share = (value: number, total: number | null) => formatValue(total ? value / total : 0, "ratio", locale);
    const value = (node: number) => view.tree.value[node] ?? 0;
    const base = (node: number) => view.tree.base?.[node] ?? 0;
    const change = (node: number) => {
      const rise = growth(value(node), base(node));
      if (value(node) === 0) return t("profiles.isGone");
      return rise === null ? t("profiles.isNew") : signed(rise, (whole) => `${whole}%`);
    };
    return {
      keys: t("profiles.keys"),
      whole: t("profiles.whole"),
      hidden: (count) => t("profiles.hidden", { count }),
      matched: (now, before, count) =>
        view.tree.base === null
          ? t("profiles.matched", { count, share: share(now, view.total) })
          : t("profiles.matchedBase", { share: share(now, view.total), base: share(before, view.base_total) }),
      describe: (node) => {
        const facts = {
          name: data.names[data.func[node] ?? 0] ?? "",
          value: format(value(node)),
          share: share(value(node), view.total),
          own: format(view.tree.own[node] ?? 0),
        };
        return view.tree.base === null
          ? t("profiles.node", facts)
          : t("profiles.nodeChange", { ...facts, base: format(base(node)), change: change(node) });
      },
      sign: (node) => (view.tree.base === null || value(node) === base(node) ? "" : change(node)),
    };
  }, [view, data, locale, t]);
  return (
    <Section title={t("profiles.flame")} {...(view.tree.base !== null && { aside: t("profiles.legend") })}>
      <FlameGraph
        data={data}
        label={t("profiles.flameLabel", { kind: text.name(view.kind) })}
        texts={texts}
        search={search}
        scheme={scheme}
      />
    </Section>
  );
}
