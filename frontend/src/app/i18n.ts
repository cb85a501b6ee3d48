import i18next from "i18next";
import { initReactI18next } from "react-i18next";
import { en } from "@/app/locales/en";
import { ja } from "@/app/locales/ja";
import { remarks } from "@/app/locales/remarks.ja";
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

export function startI18n(language = chooseLanguage(readPreference("language"), navigator.languages)): void {
  i18n.on("languageChanged", (next) => {
    document.documentElement.lang = next;
  });
  void i18n.use(initReactI18next).init({
    lng: language,
    fallbackLng: "en",
    supportedLngs: Object.keys(LANGUAGES),
    resources: { en: { translation: en }, ja: { translation: { ...ja, remarks } } },
    interpolation: { escapeValue: false },
    initAsync: false,
  });
}

export function setLanguage(language: Language): void {
  writePreference("language", language);
  void i18n.changeLanguage(language);
}
