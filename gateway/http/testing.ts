/** For tests: a server for some routes on a port of its own, and what it answers. */
import { once } from "node:events";
import { type IncomingMessage, request as open } from "node:http";
import { text } from "node:stream/consumers";
import { makeServer } from "./server.ts";

type Given = {
  readonly method?: string;
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly payload?: string;
};

/** It listens when it is first asked. Errors are answered with their status alone by default. */
export function serveRoutes(
  t: { after(clean: () => unknown): void },
  options: Pick<Parameters<typeof makeServer>[0], "routes"> &
    Partial<Parameters<typeof makeServer>[0]>,
) {
  const server = makeServer({
    isSecure: false,
    answerError: ({ status }) => ({ contentType: "text/plain", body: String(status) }),
    ...options,
  });
  let listening: Promise<number> | undefined;
  t.after(() => server.close());

  return {
    async inject(asked: Given | string) {
      listening ??= server.listen({ host: "127.0.0.1", port: 0 });
      const { method = "GET", url, headers, payload } = givenOf(asked);
      const target = { host: "127.0.0.1", port: await listening, agent: false };
      const request = open({ ...target, method, path: url, headers }).end(payload);
      const [answer]: readonly IncomingMessage[] = await once(request, "response");
      const body = answer === undefined ? "" : await text(answer);
      return {
        statusCode: answer?.statusCode ?? 0,
        headers: answer?.headers ?? {},
        body,
        json: () => JSON.parse(body),
      };
    },
  };
}

function givenOf(asked: Given | string): Given {
  return typeof asked === "string" ? { url: asked } : asked;
}
