/**
 * Starts the portal with the theme, the cache of the gateway's answers and the language. Styles
 * that Mantine adds at run time get the page's nonce, without which the page's policy blocks them.
 */
import "./design/styles.ts";
import { MantineProvider } from "@mantine/core";
import { QueryCache, QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { theme } from "./design/theme.ts";
import { LanguageProvider } from "./language/language.tsx";
import { App } from "./shell/app.tsx";
import { isSessionEnd, mayTryAgain } from "./shell/call.ts";
import { sessionKey } from "./shell/session.ts";

const nonce = document.querySelector<HTMLMetaElement>("meta[property=csp-nonce]")?.nonce ?? "";

const queries = new QueryClient({
  queryCache: new QueryCache({
    // If the session has ended, the portal reads the session again, and shows the sign-in.
    onError(error, { queryKey }) {
      if (isSessionEnd(error) && queryKey[0] !== sessionKey[0]) {
        void queries.invalidateQueries({ queryKey: sessionKey });
      }
    },
  }),
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      retry: mayTryAgain,
    },
  },
});

const place = document.getElementById("root");
if (place === null) throw new Error("the page has no place for the portal");
createRoot(place).render(
  <StrictMode>
    <MantineProvider theme={theme} defaultColorScheme="auto" getStyleNonce={() => nonce}>
      <QueryClientProvider client={queries}>
        <LanguageProvider>
          <App />
        </LanguageProvider>
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
