/**
 * Requests of a command to a gate's host, over a connection of its own instead of the links of
 * running nodes: a test of the connection, the next key, and whether the totals of a day agree.
 */
import type { IsoFields, IsoMessage } from "@tollgate/protocols/iso8583";
import type { DayTotals } from "../../orders/settlement-items.ts";
import { messageOf, Problem } from "../../values/problem.ts";
import { type Clock, calendar, calendarIn, type Instant } from "../../values/time.ts";
import {
  addressesOf,
  type ConfiguredGate,
  type Gate,
  type GateKind,
  type GateSettings,
  type StoreKey,
} from "../gates.ts";
import { makeGateAuthentication } from "./connection.ts";
import { dialects } from "./connector.ts";
import type { TotalsMessage } from "./dialect.ts";
import { askForKey, makeKeyExchange } from "./key-exchange.ts";
import { type LinkState, usualLinkLimits } from "./link.ts";
import { type LinkFacts, Links } from "./links.ts";
import { makeNetworkMessage } from "./messages.ts";
import { Recent } from "./pending-answers.ts";

/** `opened` resolves when the link is up, or with the problem if no address has accepted it. */
function openOwnLink(
  { kind, settings, macKeys }: ConfiguredGate,
  clock: Clock,
  onRequest: (request: IsoMessage) => Promise<IsoMessage | undefined> = async () => undefined,
) {
  const dialect = dialects[kind];
  const { promise: opened, resolve } = Promise.withResolvers<Problem | undefined>();
  let failures = 0;
  let unread = "";
  let tried = "";
  const links = new Links({
    wire: { ...dialect, ...makeGateAuthentication(dialect, macKeys, () => clock.now()) },
    settings: { ...settings, connections: 1 },
    conversation: { waiting: new Map(), answered: new Recent(1) },
    clock,
    limits: usualLinkLimits,
    random: Math.random,
    events: {
      onState(state: LinkState, { why, address }: LinkFacts): void {
        tried = address;
        if (state === "down") failures += 1;
        if (failures < addressesOf(settings).length) return;
        resolve(new Problem(`The host at ${address} cannot be asked: ${why}${unread}.`));
      },
      onReady: () => resolve(undefined),
      onCertificateFault: () => undefined,
      onCertificateExpiring: () => undefined,
      onUnmatched: () => undefined,
      onRequest,
      onUnreadable({ reason }): void {
        unread = ` (an answer could not be read: ${reason})`;
      },
    },
  });
  links.open();
  return { links, opened, address: () => tried, unread: () => unread };
}

type Tested = { readonly address: string; readonly echoMs: number };

/** Connects, signs on and sends an echo. */
export async function testGate(
  gate: ConfiguredGate,
  clock: Clock,
  timeoutMs: number,
): Promise<Tested | Problem> {
  const { links, opened, address, unread } = openOwnLink(gate, clock);
  try {
    const problem = await opened;
    if (problem !== undefined) return problem;
    const { network, codes } = dialects[gate.kind];
    const at = clock.now();
    const zone = gate.settings.zone ?? "UTC";
    const message = makeNetworkMessage(network, network.codes.echo, "900001", { at, zone });
    const answer = await links.send(message, { timeoutMs });
    const code = typeof answer === "string" ? answer : `39 is ${answer.fields[39]}`;
    if (code !== `39 is ${codes.networkAccepted}`) {
      return new Problem(`The host at ${address()} did not accept the echo: ${code}${unread()}.`);
    }
    return { address: address(), echoMs: clock.now() - at };
  } finally {
    await links.close();
  }
}

type Options = { readonly clock: Clock; readonly answerTimeoutMs: number };

export async function exchangeOverOwnLink(
  gate: Gate,
  { storeKey, clock, answerTimeoutMs }: Options & { readonly storeKey: StoreKey },
): Promise<"delivered" | "asked" | Problem> {
  const wire = dialects[gate.kind];
  const { promise: delivered, resolve } = Promise.withResolvers<"delivered" | "asked">();
  const exchange = makeKeyExchange({
    wire,
    zoneKey: () => gate.zoneKey,
    async storeKey(key) {
      const stored = await storeKey(key);
      // The host is answered before the connection is closed.
      if (stored !== "replayed") clock.after(answeredAfterMs, () => resolve("delivered"));
      return stored;
    },
    // Nothing is logged, because the command reports the fault as its own result.
    log: () => undefined,
  });
  let cancel = () => {};
  const { links, opened } = openOwnLink(gate, clock, exchange.answer);
  try {
    const problem = await opened;
    if (problem instanceof Problem) return problem;
    const { zone } = gate.settings;
    const asked = await askForKey({ wire, links, exchange, clock, zone, answerTimeoutMs });
    if (asked !== "asked") return asked;
    cancel = clock.after(answerTimeoutMs, () => resolve("asked"));
    return await delivered;
  } finally {
    cancel();
    await links.close();
  }
}

const answeredAfterMs = 100;

export function hasKeyExchange(kind: GateKind): boolean {
  return dialects[kind].keyExchange !== undefined;
}

export type Balance = "in balance" | "out of balance";

type Day = { readonly day: Instant; readonly totals: readonly DayTotals[] };

/** Returns an answer for each of the totals, in their order. The first problem ends it. */
export async function askTotals(
  gate: ConfiguredGate,
  { day, totals }: Day,
  { clock, answerTimeoutMs }: Options,
): Promise<readonly Balance[] | Problem> {
  const message = dialects[gate.kind].totals;
  if (message === undefined) {
    return new Problem(`The dialect ${gate.kind} has no message for totals: compare a file.`);
  }
  const { links, opened, unread } = openOwnLink(gate, clock);
  try {
    const problem = await opened;
    if (problem !== undefined) return problem;
    const balances: Balance[] = [];
    for (const [index, each] of totals.entries()) {
      const request = makeRequest(message, gate.settings, {
        day,
        totals: each,
        at: clock.now(),
        index,
      });
      const answer = await links.send(request, { timeoutMs: answerTimeoutMs });
      const { code } = each.currency;
      if (typeof answer === "string") {
        return new Problem(
          `The host has not answered the totals in ${code}: ${answer}${unread()}.`,
        );
      }
      const balance = readBalance(message, answer.fields);
      if (balance === undefined) return new Problem(describeOther(message, answer.fields, code));
      balances.push(balance);
    }
    return balances;
  } catch (error) {
    // The codec's errors name fields and rules, and never values.
    return new Problem(`The totals cannot be written: ${messageOf(error)}.`);
  } finally {
    await links.close();
  }
}

type Asked = Pick<Day, "day"> & {
  readonly totals: DayTotals;
  readonly at: Instant;
  readonly index: number;
};

export function makeRequest(
  { mti, rows }: TotalsMessage,
  settings: GateSettings,
  { day, totals, at, index }: Asked,
): IsoMessage {
  const times = { sent: calendar(at), local: calendarIn(settings.zone ?? "UTC", at) };
  const facts = {
    ...times,
    traceNumber: traceNumberAt(at, index),
    settings,
    day: calendar(day),
    totals,
  };
  return { mti, fields: Object.fromEntries(rows.map(([field, write]) => [field, write(facts)])) };
}

/** The trace numbers differ for each run, because these messages belong to no order. */
function traceNumberAt(at: Instant, index: number): string {
  const tenths = Math.floor(at / 100) % 864_000;
  return String(((tenths + index) % 999_999) + 1).padStart(6, "0");
}

/** The whole answer must confirm the result. Undefined means an answer to something else. */
export function readBalance(
  { inBalance, outOfBalance, hasSettlementCode }: TotalsMessage,
  fields: IsoFields,
): Balance | undefined {
  const { 39: code, 66: settlement = "none" } = fields;
  if (code !== inBalance && code !== outOfBalance) return undefined;
  const said = hasSettlementCode ? settlement : "none";
  if (said !== "1" && said !== "2" && said !== "none") return undefined;
  return code === outOfBalance || said === "2" ? "out of balance" : "in balance";
}

function describeOther(
  { hasSettlementCode }: TotalsMessage,
  fields: IsoFields,
  currency: string,
): string {
  const settlement = hasSettlementCode && fields[66] !== undefined ? `, 66 is ${fields[66]}` : "";
  return `The host has not compared the totals in ${currency}: 39 is ${fields[39]}${settlement}.`;
}
