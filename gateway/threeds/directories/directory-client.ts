/**
 * The way to one directory server: HTTPS with certificates on both sides, connections kept open.
 * Whatever goes wrong on it is an answer that did not come.
 */
import { readFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { Agent, request } from "node:https";
import type { Clock } from "../../values/time.ts";
import type { DirectorySettings } from "./directory.ts";

export type Asked = {
  readonly contentType: string;
  readonly body: string;
  readonly answerBytesMax: number;
  readonly timeoutMs: number;
};
export type DirectoryClient = {
  /** The answer's text; nothing when none came in time, or it was no answer at all. */
  ask(url: string, asked: Asked): Promise<string | undefined>;
  close(): Promise<void>;
};

export type Certificates = {
  readonly cert: string;
  readonly key: string;
  readonly ca: string;
  readonly paresRoots: readonly string[];
};

type Needs = {
  readonly clock: Clock;
  /** Why an answer did not come. */
  readonly onLost: (cause: string) => void;
};

const connectionsMax = 128;

export async function readCertificates(settings: DirectorySettings): Promise<Certificates> {
  const { certificateFile, keyFile, authorityFile, paresRootsFile } = settings;
  const read = (file: string) => readFile(file, "utf8");
  const [cert, key, ca] = await Promise.all([certificateFile, keyFile, authorityFile].map(read));
  const roots = paresRootsFile === undefined ? "" : await read(paresRootsFile);
  return { cert: cert ?? "", key: key ?? "", ca: ca ?? "", paresRoots: splitPem(roots) };
}

function splitPem(text: string): readonly string[] {
  return text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
}

export function makeDirectoryClient(
  { cert, key, ca }: Certificates,
  { clock, onLost }: Needs,
): DirectoryClient {
  const agent = new Agent({ cert, key, ca, keepAlive: true, maxSockets: connectionsMax });

  return {
    async ask(url, asked) {
      const stop = new AbortController();
      const callOff = clock.after(asked.timeoutMs, () =>
        stop.abort(new Error("no answer in time")),
      );
      try {
        const answer = await post(url, asked, { agent, signal: stop.signal });
        const text = await readText(answer, asked.answerBytesMax);
        if (answer.statusCode === 200 && text !== undefined) return text;
        onLost(text === undefined ? "the answer is too long" : `HTTP ${answer.statusCode}`);
      } catch (error) {
        onLost(error instanceof Error ? error.message : String(error));
      } finally {
        callOff();
      }
      return undefined;
    },
    async close() {
      agent.destroy();
    },
  };
}

function post(
  url: string,
  { contentType, body }: Asked,
  options: { readonly agent: Agent; readonly signal: AbortSignal },
): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const length = Buffer.byteLength(body);
  const headers = { "content-type": contentType, "content-length": length };
  send();
  return promise;

  function send(): void {
    const sent = request(url, { ...options, method: "POST", headers }, resolve);
    sent.on("error", (error) => {
      // The other side has closed a connection that was kept open: nothing of this was read.
      if (sent.reusedSocket && "code" in error && error.code === "ECONNRESET") send();
      else reject(error);
    });
    sent.end(body);
  }
}

async function readText(answer: IncomingMessage, bytesMax: number): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of answer) {
    bytes += chunk.length;
    // Leaving the loop ends the connection as well.
    if (bytes > bytesMax) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
