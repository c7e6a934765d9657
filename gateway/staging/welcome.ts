/**
 * The page at `/` and its form. It shows the demonstration merchant's key to every visitor, so it
 * exists in staging only. Its facts are read for each visit: `demo.json`, which all nodes share,
 * the test cards at the bank, and the orders in the database.
 */
import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { IncomingHttpHeaders } from "node:http";
import type { Socket } from "node:net";
import { join, resolve } from "node:path";
import { FormFault, parseForm } from "@tollgate/protocols/form";
import type { Config } from "../config/config.ts";
import { type HttpReply, type HttpRoute, redirectTo } from "../http/router.ts";
import type { Merchant } from "../orders/merchant.ts";
import { pageHeaders } from "../pages/design.ts";
import { namesOfServers } from "../storage/database-url.ts";
import { findEmbeddedUrl } from "../storage/embedded.ts";
import { findLatestOrders } from "../storage/find-orders.ts";
import { findCurrency } from "../values/iso-codes.ts";
import { parseAmount } from "../values/money.ts";
import { Problem } from "../values/problem.ts";
import { type Clock, makePrintDate } from "../values/time.ts";
import { printOrderLine } from "../views/status.ts";
import type { Installation } from "../wiring/installation.ts";
import type { NodeState } from "../wiring/staging-parts.ts";
import { type ExampleSale, makeRequests } from "./example-sale.ts";
import { sendSale } from "./send-sale.ts";
import {
  type Chosen,
  renderUnprepared,
  renderWelcome,
  type TestCard,
  type Visit,
  type WelcomeFacts,
} from "./welcome-page.ts";

const ordersShown = 20;
const bankAnswersWithinMs = 1_000;
const headers = pageHeaders({ referrer: "same-origin" });

/** There are no facts before there is a demonstration merchant. */
export function welcomeRoutes(
  clock: Clock,
  findFacts: () => Promise<WelcomeFacts | undefined>,
): readonly HttpRoute[] {
  const welcome: HttpRoute = {
    method: "GET",
    path: "/",
    answer({ url }) {
      const wanted = URL.parse(url, "http://gateway")?.searchParams.get("order");
      return show({ wanted: wanted ?? undefined });
    },
  };

  const form: HttpRoute = {
    method: "POST",
    path: "/try",
    async answer(request) {
      if (!isFromOwnPage(request.headers)) return notFromHere;
      const facts = await findFacts();
      if (facts === undefined) return show({});
      const chosen = readChosen(request.body);
      const clientOrderId = newOrderId("try");
      const place = { address: addressOf(request.socket), clientOrderId };
      const refused = await trySale(facts, chosen, place);
      if (refused === undefined) return redirectTo(`/?order=${encodeURIComponent(clientOrderId)}`);
      return show({ refused: { sentence: refused.sentence, chosen } }, 422);
    },
  };
  // A browser comes back from 3-D Secure with a form.
  const back: HttpRoute = {
    method: "POST",
    path: "/",
    async answer({ url }) {
      const order = URL.parse(url, "http://gateway")?.searchParams.get("order") ?? "";
      return redirectTo(`/?order=${encodeURIComponent(order)}`);
    },
  };
  return [welcome, form, back];

  async function show(visit: Partial<Visit>, status = 200): Promise<HttpReply> {
    const facts = await findFacts();
    const own = { now: clock.now(), newOrderId: newOrderId("example") };
    const page =
      facts === undefined ? renderUnprepared() : renderWelcome(facts, { ...own, ...visit });
    return { status, headers, body: page.text };
  }
}

const notFromHere: HttpReply = {
  status: 403,
  headers: { "content-type": "text/plain;charset=utf-8" },
  body: "only from the page at /\n",
};

function newOrderId(word: string): string {
  return `${word}-${randomBytes(5).toString("hex")}`;
}

/** The address that the browser's connection reached, after any proxy: it is this node. */
function addressOf({ localAddress = "127.0.0.1", localPort = 0 }: Socket): string {
  const host = localAddress.includes(":") ? `[${localAddress}]` : localAddress;
  return `http://${host}:${localPort}`;
}

function readChosen(body: Uint8Array): Chosen {
  const form = parseForm(body);
  const sent = new Map(form instanceof FormFault ? [] : form.pairs);
  const get = (name: string) => sent.get(name)?.trim() ?? "";
  return { card: get("card"), amount: get("amount"), endpoint: get("endpoint") };
}

/**
 * Sends the sale that was chosen in the form, and asks for its status until it is settled, so that
 * the next page shows the result. `address` is the node's own: the public one may be a proxy's.
 */
async function trySale(
  facts: WelcomeFacts,
  chosen: Chosen,
  { address, clientOrderId }: { readonly address: string; readonly clientOrderId: string },
): Promise<Problem | undefined> {
  const sale = saleOf(facts, chosen, clientOrderId);
  if (sale instanceof Problem) return sale;
  const requests = makeRequests({ ...facts, baseUrl: address }, sale);
  const status = await sendSale(requests);
  return status instanceof Problem ? status : undefined;
}

/** Only test cards and endpoints that the page offers: real card numbers are refused. */
function saleOf(
  { baseUrl, cards, endpoints }: WelcomeFacts,
  { card, amount, endpoint: id }: Chosen,
  clientOrderId: string,
): ExampleSale | Problem {
  const known = cards?.find((each) => each.card === card);
  if (known === undefined) return new Problem("Choose one of the sandbox bank’s test cards.");
  const endpoint = endpoints.find((each) => each.id === id);
  if (endpoint === undefined) return new Problem("Choose one of the endpoints.");

  const currency = findCurrency(endpoint.currency);
  if (currency === undefined || parseAmount(amount, currency) === undefined) {
    const digits = currency?.exponent ?? 0;
    return new Problem(
      `“${amount}” is no amount in ${endpoint.currency}: write digits, ` +
        (digits === 0 ? "without a fraction." : `with at most ${digits} after a point.`),
    );
  }
  return {
    endpoint: endpoint.id,
    clientOrderId,
    description: `Test card ${known.name}`,
    amount,
    currency: endpoint.currency,
    card,
    redirectUrl: `${baseUrl}/?order=${encodeURIComponent(clientOrderId)}`,
  };
}

export function makeFindFacts(installation: Installation) {
  const { config } = installation;
  const database = describeDatabase(installation);
  const printDate = makePrintDate(config.zone);
  const findLatest = makeFindLatest(installation);

  return async ({ configuration, missing }: NodeState): Promise<WelcomeFacts | undefined> => {
    const demo = await readDemo(config);
    const merchant = configuration.merchants.find(({ login }) => login === demo?.merchant.login);
    if (demo === undefined || merchant === undefined) return undefined;
    const own = [...configuration.endpoints.values()].filter(
      (endpoint) => endpoint.merchant.id === merchant.id && endpoint.enabled,
    );
    const groups = configuration.groups.filter((group) => group.merchant.id === merchant.id);
    const [cards, orders] = await Promise.all([
      findCards(demo.bank.url),
      // The page is shown without orders while the database is away.
      findLatest(merchant).catch(() => []),
    ]);
    return {
      ...demo,
      ...{ pathWord: config.pathWord, database, missing, cards },
      endpoints: own,
      groups,
      orders: orders.map((order) => printOrderLine(order, printDate)),
    };
  };
}

function makeFindLatest({ cells }: Installation) {
  const stores = cells.stores(({ node }) => node.query);
  return async ({ id, cell }: Pick<Merchant, "id" | "cell">) =>
    findLatestOrders(stores.of(cell), id, ordersShown);
}

type Demo = Pick<WelcomeFacts, "baseUrl" | "merchant" | "bank"> & {
  /** Ids by name. */
  readonly endpoints: Readonly<Record<string, string>>;
};

/** For the portal's sandbox screen. */
export async function findSandbox(config: Config) {
  const demo = await readDemo(config);
  return demo && { ...demo, pathWord: config.pathWord, bankUrl: demo.bank.url };
}

/** Nothing also while the file is being written. */
export async function readDemo({ dataDir }: Pick<Config, "dataDir">): Promise<Demo | undefined> {
  const file = join(resolve(dataDir), "demo.json");
  try {
    const demo: Partial<Demo> = JSON.parse(await readFile(file, "utf8"));
    const { baseUrl, merchant, bank, endpoints = {} } = demo;
    if (baseUrl === undefined || merchant === undefined || bank === undefined) return undefined;
    return { baseUrl, merchant, bank, endpoints };
  } catch {
    return undefined;
  }
}

async function findCards(bankUrl: string): Promise<readonly TestCard[] | undefined> {
  try {
    const signal = AbortSignal.timeout(bankAnswersWithinMs);
    const answer = await fetch(`${bankUrl}/scenarios`, { signal });
    const cards: readonly TestCard[] = JSON.parse(await answer.text());
    return answer.ok ? cards : undefined;
  } catch {
    return undefined;
  }
}

/** Workers receive the embedded database's address as if it were an external one. */
function describeDatabase({ config, databaseUrl }: Installation): string {
  const folder = join(resolve(config.dataDir), "postgres");
  if (findEmbeddedUrl(folder) === databaseUrl) return "PostgreSQL, embedded, in the data folder";
  return `PostgreSQL at ${namesOfServers(databaseUrl)}`;
}

/**
 * Whether a form was sent from a page of this gateway. Browsers send Sec-Fetch-Site on secure
 * addresses and localhost, and Origin everywhere.
 */
function isFromOwnPage(headers: IncomingHttpHeaders): boolean {
  const site = headers["sec-fetch-site"];
  if (site !== undefined) return site === "same-origin";
  const { host, origin } = headers;
  return host !== undefined && origin !== undefined && URL.parse(origin)?.host === host;
}
