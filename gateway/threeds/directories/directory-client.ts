/**
 * The way to one directory server: HTTPS with certificates on both sides, connections kept open.
 * Whatever goes wrong on it is an answer that did not come.
 */
import { readFile } from "node:fs/promises";
import { Pool } from "undici";
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

const connectionsMax = 32;

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
  const pools = new Map<string, Pool>();

  return {
    async ask(url, asked) {
      const { origin, pathname, search } = new URL(url);
      const stop = new AbortController();
      const callOff = clock.after(asked.timeoutMs, () => stop.abort("no answer in time"));
      try {
        const answer = await poolFor(origin).request({
          path: pathname + search,
          method: "POST",
          headers: { "content-type": asked.contentType },
          body: asked.body,
          signal: stop.signal,
        });
        const text = await readText(answer.body, asked.answerBytesMax);
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
      await Promise.all([...pools.values()].map((pool) => pool.destroy()));
    },
  };

  function poolFor(origin: string): Pool {
    const known = pools.get(origin);
    if (known !== undefined) return known;
    const pool = new Pool(origin, {
      connections: connectionsMax,
      connect: { cert, key, ca },
      // Time is told by the gateway's own clock.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    pools.set(origin, pool);
    return pool;
  }
}

async function readText(
  body: AsyncIterable<Buffer>,
  bytesMax: number,
): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > bytesMax) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
