/**
 * The language of the portal: the user's choice, or the browser's language where the portal has it.
 * Dates and numbers follow it too.
 */
import { createContext, type ReactNode, use, useMemo, useState } from "react";
import { describeRefusalsWith } from "../shell/call.ts";
import { english, type Messages } from "./english.ts";
import { chooseLocale, makeTimes } from "./times.ts";

/** English is part of the first page; another language is loaded when it is wanted. */
const tables = {
  en: async () => english,
  de: async () => (await import("./german.ts")).german,
} as const;
type LanguageCode = keyof typeof tables;
type Chosen = { readonly code: LanguageCode; readonly messages: Messages };
const storedAs = "portal-language";

type Language = {
  readonly code: LanguageCode;
  readonly messages: Messages;
  readonly change: (code: LanguageCode) => void;
} & ReturnType<typeof makeTimes>;

const context = createContext<Language | undefined>(undefined);

/** The user's, before anything is shown. */
export function loadLanguage(code = findCode()): Promise<Chosen> {
  return tables[code]().then((messages) => ({ code, messages }));
}

type ProviderProps = { readonly first: Chosen; readonly children: ReactNode };

export function LanguageProvider({ first, children }: ProviderProps) {
  const [chosen, setChosen] = useState(first);
  const language = useMemo(() => makeLanguage(chosen, setChosen), [chosen]);
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

function makeLanguage({ code, messages }: Chosen, setChosen: (chosen: Chosen) => void): Language {
  document.documentElement.lang = code;
  describeRefusalsWith(messages.refusalOf);
  const locale = chooseLocale(code, navigator.languages);
  return {
    code,
    messages,
    ...makeTimes(locale),
    change(next) {
      localStorage.setItem(storedAs, next);
      void loadLanguage(next).then(setChosen);
    },
  };
}

function findCode(): LanguageCode {
  const chosen = localStorage.getItem(storedAs) ?? navigator.language.slice(0, 2);
  return chosen === "de" ? "de" : "en";
}
