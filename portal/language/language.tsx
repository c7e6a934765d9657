/**
 * The language of the portal: the user's choice or else the browser's language if the portal has
 * it. Dates and numbers are formatted in the same language.
 */
import { createContext, type ReactNode, use, useMemo, useState } from "react";
import { describeRefusalsWith } from "../shell/call.ts";
import type { LanguageCode } from "./rows.ts";
import { type Messages, messages as texts } from "./texts.ts";
import { chooseLocale, makeTimes } from "./times.ts";

const storedAs = "portal-language";

type Language = {
  readonly code: LanguageCode;
  readonly messages: Messages;
  readonly change: (code: LanguageCode) => void;
} & ReturnType<typeof makeTimes>;

const context = createContext<Language | undefined>(undefined);

export function LanguageProvider({ children }: { readonly children: ReactNode }) {
  const [code, setCode] = useState(findCode);
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

function makeLanguage(code: LanguageCode, setCode: (code: LanguageCode) => void): Language {
  document.documentElement.lang = code;
  const messages = texts[code];
  describeRefusalsWith(messages.refusalOf);
  const locale = chooseLocale(code, navigator.languages);
  return {
    code,
    messages,
    ...makeTimes(locale),
    change(next) {
      localStorage.setItem(storedAs, next);
      setCode(next);
    },
  };
}

function findCode(): LanguageCode {
  const chosen = localStorage.getItem(storedAs) ?? navigator.language.slice(0, 2);
  return chosen === "de" ? "de" : "en";
}
