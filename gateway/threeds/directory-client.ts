/**
 * One directory server: settings, certificate files, and its HTTPS connection with certificates on
 * both sides. Every failure of a request has the same result, which is no answer.
 */
import { readFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { Agent, request as sendRequest } from "node:https";
import { readCertificateFiles, splitPem } from "../certificates/certificate-files.ts";
import type { Network } from "../values/card-number.ts";
import { messageOf } from "../values/problem.ts";
import type { Clock } from "../values/time.ts";

export type DirectoryServer = {
  readonly name: string;
  /** The networks whose cards it authenticates; all if the list is empty. */
  readonly networks: readonly Network[];
  readonly settings: DirectorySettings;
};

export type DirectorySettings = {
  /** The URLs for EMV 3-D Secure and for 1.0.2. There is at least one of them. */
  readonly url?: string;
  readonly url102?: string;
  /** PEM files: the gateway's client certificate, its key, and the authority of the server. */
  readonly certificateFile: string;
  readonly keyFile: string;
  readonly authorityFile: string;
  /** The common name in the certificate that posts results; any name if absent. */
  readonly resultsName?: string;
  /** The root certificates for the issuers' signatures in 1.0.2. */
  readonly paresRootsFile?: string;
  readonly referenceNumber: string;
  readonly operatorId: string;
  readonly requestorId: string;
  readonly requestorName: string;
  readonly requestorUrl: string;
  /** Whether the server belongs to a sandbox, as in staging and in a rehearsal. */
  readonly sandbox?: boolean;
};

export type Directory = {
  readonly server: DirectoryServer;
  readonly certificates: Certificates;
} & Pick<DirectoryClient, "send" | "fetch">;

export type Certificates = Awaited<ReturnType<typeof readCertificates>>;

/** Rejects if a file is missing or invalid, or the certificate does not belong to the key. */
export async function readCertificates(settings: DirectorySettings) {
  const { paresRootsFile } = settings;
  const { cert = "", key = "", ca = "" } = await readCertificateFiles(settings);
  const roots = paresRootsFile === undefined ? "" : await readFile(paresRootsFile, "utf8");
  return { cert, key, ca, paresRoots: splitPem(roots) };
}

/** Returns faults by the names of the servers. */
export async function findFileFaults(
  servers: readonly DirectoryServer[],
): Promise<ReadonlyMap<string, string>> {
  const faults = new Map<string, string>();
  for (const { name, settings } of servers) {
    await readCertificates(settings).catch((error) => faults.set(name, messageOf(error)));
  }
  return faults;
}

export type DirectoryRequest = {
  readonly contentType: string;
  readonly body: string;
  readonly answerBytesMax: number;
  /** The limit for each MiB of the answer. The first MiB includes everything before it. */
  readonly timeoutMs: number;
  /** An AReq may not be repeated: the issuer may have begun a challenge for the first one. */
  readonly mayRepeat?: boolean;
};

export type DirectoryClient = ReturnType<typeof makeDirectoryClient>;

const connectionsMax = 128;
const blockBytes = 1024 * 1024;
/** Servers close idle connections after five seconds or later, so the client does it earlier. */
const idleMs = 4_000;

export function makeDirectoryClient(
  { cert, key, ca }: Certificates,
  clock: Clock,
  onFailure: (cause: string) => void,
) {
  const agent = new Agent({
    cert,
    key,
    ca,
    keepAlive: true,
    maxSockets: connectionsMax,
    timeout: idleMs,
  });
  const drained = Promise.withResolvers<void>();
  let inFlight = 0;
  let isDraining = false;

  return {
    fetch,
    async send(url: string, request: DirectoryRequest): Promise<string | undefined> {
      const blocks = await fetch(url, request);
      return blocks && Buffer.concat(blocks).toString();
    },
    /** Closes idle connections at once and the others after their answers. */
    drain(): Promise<void> {
      isDraining = true;
      for (const socket of Object.values(agent.freeSockets).flat()) socket?.destroy();
      closeWhenDrained();
      return drained.promise;
    },
    close: () => agent.destroy(),
  };

  /** The bytes of an answer may be many. Returns undefined if no valid one came in time. */
  async function fetch(url: string, request: DirectoryRequest): Promise<Blocks | undefined> {
    const { answerBytesMax, timeoutMs } = request;
    const stop = new AbortController();
    const startTimer = () => clock.after(timeoutMs, () => stop.abort());
    let cancel = startTimer();
    const onBlock = () => {
      cancel();
      cancel = startTimer();
    };
    inFlight += 1;
    try {
      const answer = await post(url, request, { agent, signal: stop.signal });
      const blocks = await readBlocks(answer, answerBytesMax, onBlock);
      if (answer.statusCode === 200 && blocks !== undefined) return blocks;
      onFailure(blocks === undefined ? "the answer is too long" : `HTTP ${answer.statusCode}`);
    } catch (error) {
      onFailure(stop.signal.aborted ? "no answer in time" : messageOf(error));
    } finally {
      cancel();
      inFlight -= 1;
      closeWhenDrained();
    }
    return undefined;
  }

  function closeWhenDrained(): void {
    if (!isDraining || inFlight > 0) return;
    agent.destroy();
    drained.resolve();
  }
}

function post(
  url: string,
  { contentType, body, mayRepeat = false }: DirectoryRequest,
  options: { readonly agent: Agent; readonly signal: AbortSignal },
): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const headers = { "content-type": contentType, "content-length": Buffer.byteLength(body) };
  send();
  return promise;

  function send(): void {
    const sent = sendRequest(url, { ...options, method: "POST", headers }, resolve);
    sent.on("error", (error) => {
      // The server has closed a kept connection, most likely before it read the request.
      const isStale = sent.reusedSocket && "code" in error && error.code === "ECONNRESET";
      if (isStale && mayRepeat) send();
      else reject(error);
    });
    sent.end(body);
  }
}

/** An answer's blocks in their order. All but the last are in memory that threads can share. */
export type Blocks = readonly Uint8Array[];

async function readBlocks(
  answer: IncomingMessage,
  bytesMax: number,
  onBlock: () => void,
): Promise<Blocks | undefined> {
  const blocks: Uint8Array[] = [];
  let chunks: Buffer[] = [];
  let [bytes, pending] = [0, 0];
  for await (const chunk of answer) {
    bytes += chunk.length;
    pending += chunk.length;
    // The return also closes the connection.
    if (bytes > bytesMax) return undefined;
    chunks.push(chunk);
    if (pending < blockBytes) continue;
    blocks.push(share(chunks, pending));
    [chunks, pending] = [[], 0];
    onBlock();
  }
  return [...blocks, Buffer.concat(chunks)];
}

function share(chunks: readonly Buffer[], length: number): Uint8Array {
  const block = new Uint8Array(new SharedArrayBuffer(length));
  let at = 0;
  for (const chunk of chunks) {
    block.set(chunk, at);
    at += chunk.length;
  }
  return block;
}
