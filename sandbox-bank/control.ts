/**
 * The bank's HTTP side: catalogue, books, messages and switches as JSON, a page to see and steer
 * them with, the pages of the ACS, and the wallets. What it tells of messages is masked; what it
 * tells of money is in minor units.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { makeControlPage } from "./control-page.ts";
import {
  bodyBytesMax,
  parseJson,
  type Query,
  type Reply,
  readBody,
  sendHtml,
  sendJson,
} from "./http-exchange.ts";
import type { Ledger, LedgerEntry } from "./ledger.ts";
import { listenOn } from "./listen-on.ts";
import type { LoggedMessage, MessageLog } from "./message-log.ts";
import { scenarios } from "./scenarios.ts";
import { readSwitchForm, type Switchboard, type Switches, SwitchFault } from "./switches.ts";
import type { ThreeDsMessage, ThreeDsMessages } from "./threeds-messages.ts";
import type { ThreeDsSide } from "./threeds-side.ts";
import type { WalletSide } from "./wallets/wallet-side.ts";

const entriesPerPiece = 500;
const messagesMax = 500;

export type Controlled = {
  readonly ledger: Ledger;
  readonly messages: MessageLog;
  readonly switches: Switchboard;
  readonly change: (patch: unknown) => Promise<Switches | SwitchFault>;
  readonly threeDs: Pick<ThreeDsSide, "directory" | "messages" | "routes">;
  readonly wallets: Pick<WalletSide, "routes">;
  readonly log: (line: string) => void;
};

export class ControlServer {
  readonly #routes: ReadonlyMap<string, Reply>;
  readonly #server = createServer((request, response) => this.#reply(request, response));
  readonly #log: (line: string) => void;
  #port = 0;

  constructor(controlled: Controlled) {
    this.#routes = makeRoutes(controlled);
    this.#log = controlled.log;
  }

  get port(): number {
    return this.#port;
  }

  async open(address: { host: string; port: number }): Promise<void> {
    this.#port = await listenOn(this.#server, address);
  }

  async close(): Promise<void> {
    if (!this.#server.listening) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#server.close(() => resolve());
    this.#server.closeAllConnections();
    await promise;
  }

  async #reply(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const url = URL.parse(request.url ?? "", "http://bank");
      const route = this.#routes.get(`${request.method} ${url?.pathname}`);
      if (url === null || route === undefined) {
        sendJson(response, 404, { error: "The sandbox bank has nothing here." });
      } else {
        await route(request, response, url.searchParams);
      }
    } catch (error) {
      this.#log(`A control request failed: ${String(error)}`);
      if (response.headersSent) response.destroy();
      else sendJson(response, 500, { error: `The sandbox bank failed: ${String(error)}` });
    }
  }
}

function makeRoutes(controlled: Controlled): ReadonlyMap<string, Reply> {
  const { ledger, messages, switches, threeDs, wallets } = controlled;
  const showPage = () =>
    makeControlPage(switches.current, ledger.entries(), threeDs.directory.port);

  // biome-ignore format: a table
  return new Map<string, Reply>([
    ["GET /",          (_, response) => sendHtml(response, showPage())],
    ["GET /scenarios", (_, response) => sendJson(response, 200, listScenarios())],
    ["GET /ledger",    (_, response, query) => sendLedger(response, ledger.entries(readReference(query)))],
    ["GET /messages",  (_, response, query) => sendJson(response, 200, { messages: listMessages(messages, query) })],
    ["GET /threeds-messages", (_, response, query) => sendJson(response, 200, { messages: listThreeDsMessages(threeDs.messages, query) })],
    ["GET /switches",  (_, response) => sendJson(response, 200, switches.current)],
    ["POST /switches", (request, response) => changeSwitches(request, response, controlled)],
    ...threeDs.routes,
    ...wallets.routes,
  ]);
}

function listScenarios(): unknown {
  return scenarios.map(({ name, card, group, what }) => ({ name, card, group, what }));
}

/** Without a reference only the last few: decoding a hundred thousand would hold up the host. */
function listMessages(messages: MessageLog, query: Query): readonly LoggedMessage[] {
  const reference = readReference(query);
  return reference === undefined ? messages.listLast(messagesMax) : messages.list(reference);
}

function listThreeDsMessages(messages: ThreeDsMessages, query: Query): readonly ThreeDsMessage[] {
  return messages.list(query.get("transaction") ?? undefined).slice(-messagesMax);
}

function readReference(query: Query): string | undefined {
  return query.get("reference") ?? undefined;
}

/** In pieces, because after a load test the books hold millions of entries. */
async function sendLedger(response: ServerResponse, entries: readonly LedgerEntry[]) {
  response.writeHead(200, { "content-type": "application/json" });
  await pipeline(Readable.from(writeLedger(entries)), response);
}

function* writeLedger(entries: readonly LedgerEntry[]): Generator<string> {
  // Entries booked while this is written are for the next who asks.
  const total = entries.length;
  yield '{"entries":[';
  for (let start = 0; start < total; start += entriesPerPiece) {
    const piece = entries.slice(start, Math.min(start + entriesPerPiece, total));
    const written = piece.map((entry) =>
      JSON.stringify({ ...entry, amount: Number(entry.amount) }),
    );
    yield (start === 0 ? "" : ",") + written.join(",");
  }
  yield "]}";
}

async function changeSwitches(
  request: IncomingMessage,
  response: ServerResponse,
  { change }: Controlled,
): Promise<void> {
  const body = await readBody(request, bodyBytesMax);
  if (body === undefined) return sendJson(response, 413, { error: "The body is too long." });
  const fromForm = request.headers["content-type"]?.startsWith("application/x-www-form-urlencoded");
  const patch = fromForm ? readSwitchForm(new URLSearchParams(body)) : parseJson(body);
  const changed = await change(patch);
  if (changed instanceof SwitchFault) return sendJson(response, 400, { error: changed.sentence });
  if (fromForm) response.writeHead(303, { location: "/" }).end();
  else sendJson(response, 200, changed);
}
