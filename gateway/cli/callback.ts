/**
 * `gw callback`: lists callbacks, shows every attempt, has them sent again, and prints the secret
 * that signs them. Sending again makes them due in the database; the gateway's nodes send them.
 */
import { type Command, Option } from "commander";
import { oldSecretUntil, renewSecret, retireOldSecret, secretNames } from "../callbacks/message.ts";
import {
  type CallbackEntry,
  type CallbackFilter,
  callbackStates,
  findAttempts,
  findCallbacks,
  resendCallbacks,
} from "../storage/callback-journal.ts";
import { readDatabaseTime } from "../storage/database-clock.ts";
import { Problem } from "../values/problem.ts";
import { asInstant, type Instant, makePrintDate, parseDate } from "../values/time.ts";
import { followCallbacks } from "./callback-follow.ts";
import { listenForCallbacks } from "./callback-listen.ts";
import { addCommands, makeRun, type Output, print, type Session, setOutput } from "./command.ts";
import { findEndpoint } from "./endpoint.ts";
import { openVault, readConfiguration } from "./installation.ts";
import {
  type GivenOptions,
  readOneOf,
  readSettings,
  type SettingOption,
  setting,
} from "./options.ts";
import { findOrder } from "./order.ts";

const listedMax = 1_000;

// biome-ignore format: a table
const choices: readonly SettingOption<CallbackFilter>[] = [
  setting("--since <moment>", "only of results from then on, like 2030-01-31T09:30:00Z", "since", readMoment),
  setting("--until <moment>", "only of results up to then",                              "until", readMoment),
  setting("--state <state>",  "only these: due, delivered, stopped or given_up",         "state", readOneOf(callbackStates)),
];

export function addCallbackCommands(callback: Command): void {
  const order = new Option("--order <orderid>", "only those of one order");
  const choice = choices.map(({ option }) => option);
  const secret = [
    new Option("--renew", "make a new one; for a day forms are signed with both"),
    new Option("--retire", "stop signing with the old one now"),
  ];
  // biome-ignore format: a table
  addCommands(callback, [
    ["list",                         "list callbacks, the latest first",                                      listCallbacks, [order, ...choice]],
    ["show <orderid> [sequence]",    "show the callbacks of an order with every attempt",                     showCallback],
    ["resend [orderid] [sequence]",  "send again: one, all of an order, or those of a range of time",         resendCallback, choice],
    ["secret <endpointid>",          "print the secret with which a merchant verifies the signatures of forms", printSecret, secret],
  ]);
  addListen(callback.command("listen"));
}

/** With `--gateway` it needs no installation: that gateway may be on another machine. */
function addListen(command: Command): void {
  const receive = makeRun(command, listenForCallbacks);
  const run = (given: never[], json: boolean) => {
    const { gateway, forwardTo }: ListenOptions = given.at(-1) ?? {};
    if (gateway !== undefined) return followCallbacks(gateway, forwardTo, json);
    if (forwardTo === undefined) return receive(given, json);
    return new Problem("--forward-to needs --gateway, the address of a gateway in staging.");
  };
  command.description("receive and print callbacks on this machine, for development");
  // biome-ignore format: a table
  setOutput(command, run, [
    new Option("--gateway <url>", "take the demonstration merchant's callbacks from a gateway in staging, which need not reach this machine"),
    new Option("--forward-to <url>", "with --gateway: send each callback on to this address"),
    new Option("--port <port>", "where to listen, without --gateway").default("9099"),
    new Option("--answer <status>", "the HTTP status of every answer, without --gateway").default("200"),
  ]);
}

type ListenOptions = { readonly gateway?: string; readonly forwardTo?: string };

type Choice = GivenOptions & { readonly order?: string };

async function listCallbacks(session: Session, choice: Choice): Promise<Output> {
  const chosen = await choose(session, choice, choice.order);
  if (chosen instanceof Problem) return chosen;
  const found = await findAll(session, chosen);
  if (found.length === 0 && !session.json) return "There is no such callback.";
  if (found.length === listedMax) {
    process.stderr.write(`These are the latest ${listedMax}; there may be more.\n`);
  }
  return describe(session, found);
}

async function showCallback(session: Session, order: string, sequence?: string): Promise<Output> {
  const chosen = await choose(session, {}, order, sequence);
  if (chosen instanceof Problem) return chosen;
  const found = await findAll(session, chosen);
  if (found.length === 0) return nothingFor(order);
  const printDate = makePrintDate(session.config.zone);
  const made = await queriesOf(session).each((query) => findAttempts(query, chosen));
  const attempts = made.flat().map((attempt) => ({
    ...attempt,
    at: printDate(attempt.at),
  }));
  const callbacks = describe(session, found);
  if (session.json) return { callbacks, attempts };
  print(callbacks);
  process.stdout.write("\n");
  // Addresses and answers are long, so that they come last.
  return attempts.map(({ sequence, at, node, ms, status, failure, answer, method, url, body }) => ({
    ...{ sequence, at, outcome: status ?? failure, ms, node, answer, method, url },
    ...(body === "" ? {} : { body }),
  }));
}

/** Of all cells, the latest first. */
async function findAll(session: Session, chosen: CallbackFilter) {
  const found = await queriesOf(session).each((query) => findCallbacks(query, chosen, listedMax));
  return found
    .flat()
    .toSorted((one, other) => other.made - one.made)
    .slice(0, listedMax);
}

function queriesOf({ cells }: Session) {
  return cells.stores(({ node }) => node.query);
}

async function resendCallback(
  session: Session,
  order: string | undefined,
  sequence: string | undefined,
  choice: GivenOptions,
): Promise<Output> {
  if (order === undefined && choice["since"] === undefined) {
    return new Problem("Name an order, or a time with --since.");
  }
  const chosen = await choose(session, choice, order, sequence);
  if (chosen instanceof Problem) return chosen;
  const now = await readDatabaseTime(session.database.query);
  const by = session.actor.who;
  const resent = await queriesOf(session).each((query) =>
    resendCallbacks(query, chosen, { now, by }),
  );
  const sent = resent.flat();
  if (order !== undefined && sent.length === 0) return nothingFor(order);
  const earlier = sent.filter(({ asked }) => !asked).length;
  const note = earlier === 0 ? {} : { "of these earlier ones, which go first": earlier };
  return { "to be sent again": sent.length, ...note };
}

async function choose(
  session: Session,
  choice: GivenOptions,
  id: string | undefined,
  sequence?: string,
): Promise<CallbackFilter | Problem> {
  const chosen = readSettings(choices, choice, {});
  if (chosen instanceof Problem) return chosen;
  const order = id === undefined ? undefined : await findOrder(session, id);
  if (order instanceof Problem) return order;
  if (sequence !== undefined && !/^[1-9]\d{0,5}$/.test(sequence)) {
    return new Problem(`${sequence} is no sequence number of a transaction in its order.`);
  }
  return {
    ...{ ...chosen, merchantId: order?.merchantId, orderId: order?.id },
    sequence: sequence === undefined ? undefined : Number(sequence),
  };
}

function readMoment(text: string): Instant | Problem {
  return (
    parseDate(text) ??
    new Problem(`${text} is no moment: write it like 2030-01-31 or 2030-01-31T09:30:00Z.`)
  );
}

function nothingFor(order: string): Problem {
  return new Problem(`Order ${order} has no such callback.`);
}

function describe({ config }: Session, found: readonly CallbackEntry[]) {
  const printDate = makePrintDate(config.zone);
  return found.map(({ order, sequence, serial, state, tries, made, next, ended, url }) => ({
    ...{ order, sequence, state, tries, made: printDate(made) },
    next: next === null ? "" : printDate(next),
    ended: ended === null ? "" : printDate(ended),
    ...{ "serial-number": serial, url },
  }));
}

async function printSecret(
  session: Session,
  id: string,
  { renew = false, retire = false }: { readonly renew?: boolean; readonly retire?: boolean },
): Promise<Output> {
  const endpoint = findEndpoint(await readConfiguration(session), id);
  if (endpoint instanceof Problem) return endpoint;
  const now = await readDatabaseTime(session.database.query);
  const renewed = renew ? renewSecret(endpoint.settings, now) : endpoint.settings;
  const settings = retire ? retireOldSecret(renewed) : renewed;
  if (renew || retire) {
    await session.administration.setEndpoint(endpoint.id, settings, endpoint.enabled);
  }
  const { secretFor } = await openVault(session);
  const [name = ""] = secretNames({ id: endpoint.id, settings }, now);
  const secret = `whsec_${secretFor(name).toString("base64")}`;
  const oldUntil = oldSecretUntil(settings) ?? 0;
  if (oldUntil <= now) return { endpoint: id, secret };
  const printDate = makePrintDate(session.config.zone);
  return { endpoint: id, secret, "old one until": printDate(asInstant(oldUntil)) };
}
