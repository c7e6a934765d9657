/**
 * The sandbox bank's HTTP server: the control interface (catalogue, ledger, messages and switches
 * as JSON), the pages of the ACS, and the wallets. Card numbers are masked, except for the test
 * cards of the catalogue. Amounts are in minor units.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { HostContext } from "./acquirer-host/answers.ts";
import {
  type Address,
  BadRequest,
  bodyBytesMax,
  Listener,
  makeRequestListener,
  parseJson,
  type Route,
  type Routes,
  readBody,
  sendJson,
} from "./http.ts";
import type { LedgerEntry } from "./ledger.ts";
import type { LoggedMessage, MessageLog } from "./message-log.ts";
import { scenarios } from "./scenarios.ts";
import { falsify, listSettlement, writeSettlement } from "./settlement.ts";
import { readSwitchForm, type Switches, switchTable } from "./switches.ts";
import type { ThreeDs } from "./threeds.ts";
import type { Wallets } from "./wallets/wallets.ts";

const entriesPerChunk = 500;
const messagesMax = 500;

type Dependencies = Pick<HostContext, "ledger" | "messages" | "switches" | "clock" | "log"> & {
  readonly setSwitches: (patch: unknown) => Promise<Switches | BadRequest>;
  readonly threeDs: Pick<ThreeDs, "directory" | "messages" | "routes">;
  readonly wallets: Pick<Wallets, "routes">;
};

export function makeControlServer(dependencies: Dependencies, address: Address): Listener {
  const routes = makeRoutes(dependencies);
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const url = URL.parse(request.url ?? "", "http://bank");
    const route = routes.get(`${request.method} ${url?.pathname}`);
    if (url === null || route === undefined) {
      return sendJson(response, 404, { error: "The sandbox bank has nothing here." });
    }
    await route(request, response, url.searchParams);
  };
  return new Listener(createServer(makeRequestListener(handle, dependencies.log)), address);
}

function makeRoutes(dependencies: Dependencies): Routes {
  const { ledger, messages, setSwitches, switches, threeDs, wallets } = dependencies;

  // biome-ignore format: a table
  return new Map<string, Route>([
    ["GET /scenarios",        (_, response) => sendJson(response, 200, scenarios.map(({ name, card, group, what }) => ({ name, card, group, what })))],
    ["GET /ledger",           (_, response, query) => sendLedger(response, lastOf(ledger.entries(query.get("reference") ?? undefined), query.get("last")))],
    ["GET /settlement",       (_, response, query) => sendSettlement(response, dependencies, query)],
    ["GET /messages",         (_, response, query) => sendJson(response, 200, { messages: listMessages(messages, query.get("reference")) })],
    ["GET /threeds-messages", (_, response, query) => sendJson(response, 200, { messages: threeDs.messages.list(query.get("transaction") ?? undefined).slice(-messagesMax) })],
    ["GET /switches",         (_, response) => sendJson(response, 200, switches.current)],
    ["GET /switch-table",     (_, response) => sendJson(response, 200, listSwitches(switches.current))],
    ["POST /switches",        (request, response) => changeSwitches(request, response, setSwitches)],
    ...threeDs.routes,
    ...wallets.routes,
  ]);
}

/**
 * Lists messages. Without a reference it lists only the last few, because decoding a hundred
 * thousand would delay the host.
 */
function listMessages(messages: MessageLog, reference: string | null): readonly LoggedMessage[] {
  return reference === null ? messages.list(undefined, messagesMax) : messages.list(reference);
}

/** Returns the last entries, or all without a count. */
function lastOf(entries: readonly LedgerEntry[], count: string | null): readonly LedgerEntry[] {
  return count === null ? entries : entries.slice(-Math.max(1, Number(count) || 1));
}

function listSwitches(current: Switches) {
  return Object.entries(switchTable).map(([name, { off, takes, what }]) => ({
    name,
    value: current[name as keyof Switches],
    off,
    takes: takes.takes,
    what,
  }));
}

/** Sends the ledger in chunks, because after a load test it contains millions of entries. */
async function sendLedger(response: ServerResponse, entries: readonly LedgerEntry[]) {
  response.writeHead(200, { "content-type": "application/json" });
  await pipeline(Readable.from(writeLedger(entries)), response);
}

/** Writes the entries that exist now, without those that are booked while it runs. */
function* writeLedger(entries: readonly LedgerEntry[]): Generator<string> {
  const total = entries.length;
  yield '{"entries":[';
  for (let start = 0; start < total; start += entriesPerChunk) {
    const chunk = entries.slice(start, Math.min(start + entriesPerChunk, total));
    const written = chunk.map(({ reference, kind, amount, currency, at }) =>
      JSON.stringify({ reference, kind, amount: Number(amount), currency, at }),
    );
    yield (start === 0 ? "" : ",") + written.join(",");
  }
  yield "]}";
}

async function sendSettlement(
  response: ServerResponse,
  { ledger, switches, clock }: Dependencies,
  query: URLSearchParams,
) {
  const day = query.get("day") ?? clock.now().iso.slice(0, 10);
  if (!/^\d{4}-\d\d-\d\d$/.test(day)) {
    return sendJson(response, 400, { error: '"day" takes a date like 2030-01-31, in UTC.' });
  }
  const { settlementDefects: defects, seed } = switches.current;
  const lines = listSettlement(ledger, day, query.get("gate") ?? undefined);
  response.writeHead(200, { "content-type": "text/csv; charset=utf-8" });
  await pipeline(Readable.from(writeSettlement(falsify(lines, defects, seed))), response);
}

async function changeSwitches(
  request: IncomingMessage,
  response: ServerResponse,
  setSwitches: Dependencies["setSwitches"],
): Promise<void> {
  const body = await readBody(request, bodyBytesMax);
  if (body === undefined) return sendJson(response, 413, { error: "The body is too long." });
  const isForm = request.headers["content-type"]?.startsWith("application/x-www-form-urlencoded");
  const patch = isForm ? readSwitchForm(new URLSearchParams(body)) : parseJson(body);
  const changed = await setSwitches(patch);
  if (changed instanceof BadRequest) return sendJson(response, 400, { error: changed.sentence });
  sendJson(response, 200, changed);
}
