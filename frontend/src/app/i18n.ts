import i18next from "i18next";
import { initReactI18next } from "react-i18next";
import { en } from "@/app/locales/en";
import { readPreference, writePreference } from "@/lib/view/preferences";

export const LANGUAGES = { en: "English", ja: "日本語" } as const;
export type Language = keyof typeof LANGUAGES;

/** The remembered language, else the first of the browser's languages that there is a catalogue for. */
export function chooseLanguage(remembered: string | null, wanted: readonly string[]): Language {
  const known = (tag: string): tag is Language => Object.hasOwn(LANGUAGES, tag);
  if (remembered !== null && known(remembered)) return remembered;
  return wanted.map((tag) => tag.toLowerCase().split("-")[0] ?? "").find(known) ?? "en";
}

export const i18n = i18next.createInstance();

/** English of the first page is a part of it, since it stands in for what another language lacks; others come when they are chosen. */
const CATALOGUES = {
  en: () => Promise.resolve(en),
  ja: async () => {
    const [{ ja }, { remarks }, { faults }, { reasons }] = await Promise.all([
      import("@/app/locales/ja"),
      import("@/app/locales/remarks.ja"),
      import("@/app/locales/faults.ja"),
      import("@/app/locales/reasons.ja"),
    ]);
    return { ...ja, remarks, faults, reasons };
  },
} as const;

export async function startI18n(
  language = chooseLanguage(readPreference("language"), navigator.languages),
): Promise<void> {
  const chosen = await CATALOGUES[language]();
  i18n.on("languageChanged", (next) => {
    document.documentElement.lang = next;
  });
  void i18n.use(initReactI18next).init({
    lng: language,
    fallbackLng: "en",
    supportedLngs: Object.keys(LANGUAGES),
    resources: { en: { translation: en }, [language]: { translation: chosen } },
    interpolation: { escapeValue: false },
    initAsync: false,
  });
}

export async function setLanguage(language: Language): Promise<void> {
  writePreference("language", language);
  if (!i18n.hasResourceBundle(language, "translation"))
    i18n.addResourceBundle(language, "translation", await CATALOGUES[language]());
  await i18n.changeLanguage(language);
}

let pageTexts: Promise<void> | undefined;

/** The English texts of pages that are loaded when they are opened; other languages are whole. */
export function loadPageTexts(): Promise<void> {
  pageTexts ??= import("@/app/locales/pages/en").then(
    ({ pages }) => void i18n.addResourceBundle("en", "translation", pages, true),
    (error: unknown) => {
      pageTexts = undefined;
      throw error;
    },
  );
  return pageTexts;
}
