/** Helps tests: a server for some routes on a port of its own, and its answers. */
import { once } from "node:events";
import { type IncomingMessage, request as open } from "node:http";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { makeServer } from "./server.ts";

type Given = {
  readonly method?: string;
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly payload?: string;
};

type Test = { after(clean: () => unknown): void };
type Options = Pick<Parameters<typeof makeServer>[0], "routes"> &
  Partial<Parameters<typeof makeServer>[0]>;

/** Errors are answered with their status alone by default. */
function makeTestServer(options: Options) {
  return makeServer({
    isSecure: false,
    answerError: ({ status }) => ({ contentType: "text/plain", body: String(status) }),
    ...options,
  });
}

/** For a client that writes bytes. The connection is closed when the test ends. */
export async function serveSockets(t: Test, options: Options) {
  const server = makeTestServer(options);
  const port = await server.listen({ host: "127.0.0.1", port: 0 });
  const clients = new Set<Socket>();
  t.after(async () => {
    for (const client of clients) client.destroy();
    await server.close();
  });

  return {
    server,
    async open(): Promise<Socket> {
      // Each write is sent at once, so that the server may read it alone.
      const client = connect({ host: "127.0.0.1", port, noDelay: true });
      client.on("error", () => undefined);
      clients.add(client);
      await once(client, "connect");
      return client;
    },
  };
}

export async function untilClosed(client: Socket): Promise<string> {
  let received = "";
  client.on("data", (chunk) => {
    received += chunk;
  });
  await new Promise((closed) => client.once("close", closed));
  return received;
}

/** The server listens from its first request on. */
export function serveRoutes(t: Test, options: Options) {
  const server = makeTestServer(options);
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
