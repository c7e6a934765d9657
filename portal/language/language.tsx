/**
 * The language of the portal: the user's choice, or the browser's language where the portal has it.
 * Dates and numbers follow it too.
 */
import { createContext, type ReactNode, use, useMemo, useState } from "react";
import { english, type Messages } from "./english.ts";
import { german } from "./german.ts";

const tables = { en: english, de: german } as const;
type LanguageCode = keyof typeof tables;
const storedAs = "portal-language";

type Language = {
  readonly code: LanguageCode;
  readonly messages: Messages;
  readonly showTime: (at: number) => string;
  readonly showDay: (at: number) => string;
  readonly change: (code: LanguageCode) => void;
};

const context = createContext<Language | undefined>(undefined);

export function LanguageProvider({ children }: { readonly children: ReactNode }) {
  const [code, setCode] = useState<LanguageCode>(findCode);
  const language = useMemo(() => makeLanguage(code, setCode), [code]);
  return <context.Provider value={language}>{children}</context.Provider>;
}

export function useLanguage(): Language {
  const language = use(context);
  if (language === undefined) throw new Error("no language around this component");
  return language;
}

export function useMessages(): Messages {
  return useLanguage().messages;
}

/** For the screens of the configuration, where some names mean something of their own. */
export function useConfigurationMessages() {
  const messages = useMessages();
  return { ...messages, ...messages.configuration };
}

function makeLanguage(code: LanguageCode, setCode: (code: LanguageCode) => void): Language {
  document.documentElement.lang = code;
  // The browser's region decides between 24 and 12 hours where it has the same language.
  const locale = navigator.languages.find((each) => each.startsWith(code)) ?? code;
  const time = new Intl.DateTimeFormat(locale, { timeStyle: "medium", dateStyle: "medium" });
  const day = new Intl.DateTimeFormat(locale, { dateStyle: "medium" });
  return {
    ...{ code, messages: tables[code] },
    showTime: (at) => time.format(at),
    showDay: (at) => day.format(at),
    change(chosen) {
      localStorage.setItem(storedAs, chosen);
      setCode(chosen);
    },
  };
}

function findCode(): LanguageCode {
  const chosen = localStorage.getItem(storedAs) ?? navigator.language.slice(0, 2);
  return chosen === "de" ? "de" : "en";
}
