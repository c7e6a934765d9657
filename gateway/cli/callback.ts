/**
 * `gw callback`: what merchants were told, every try of it, and sending it again. That makes it due
 * in the database; the gateway's nodes send it.
 */

import {
  type CallbackEntry,
  type CallbackState,
  type Chosen,
  callbackStates,
  findAttempts,
  findCallbacks,
  resendCallbacks,
} from "../storage/callbacks-journal.ts";
import { Problem } from "../values/problem.ts";
import { type Instant, makePrintDate, parseDate, systemClock } from "../values/time.ts";
import { findOrder } from "./find-order.ts";
import { complain, type Installation, withInstallation } from "./installation.ts";
import { readOneOf } from "./option-values.ts";
import { print } from "./print.ts";

type Output = { readonly json?: boolean };
type Choice = {
  readonly order?: string;
  readonly since?: string;
  readonly until?: string;
  readonly state?: string;
};

const listedMax = 1_000;
const readState = readOneOf("--state", callbackStates);

export function listCallbacks({ json = false, ...choice }: Choice & Output): Promise<void> {
  return withInstallation(async (installation) => {
    const chosen = await choose(installation, choice);
    if (chosen instanceof Problem) return complain(chosen);
    const found = await findCallbacks(installation.database.query, chosen, listedMax);
    printEntries(installation, found, json);
    if (found.length === listedMax) {
      process.stderr.write(`These are the latest ${listedMax}; there may be more.\n`);
    }
  });
}

export function showCallback(
  order: string,
  sequence: string | undefined,
  { json = false }: Output,
): Promise<void> {
  return withInstallation(async (installation) => {
    const chosen = await choose(installation, { order }, sequence);
    if (chosen instanceof Problem) return complain(chosen);
    const { query } = installation.database;
    const found = await findCallbacks(query, chosen, listedMax);
    if (found.length === 0) return complain(nothingFor(order));
    const attempts = await findAttempts(query, chosen);
    const printDate = makePrintDate(installation.config.zone);
    const tries = attempts.map((attempt) => ({ ...attempt, at: printDate(attempt.at) }));
    if (json) return print({ callbacks: entriesOf(installation, found), attempts: tries }, true);
    printEntries(installation, found, false);
    process.stdout.write("\n");
    print(
      tries.map(({ status, failure, body, ...attempt }) => ({
        ...attempt,
        outcome: status ?? failure,
        ...(body === "" ? {} : { body }),
      })),
    );
  });
}

export function resendCallback(
  order: string | undefined,
  sequence: string | undefined,
  { json = false, ...choice }: Omit<Choice, "order"> & Output,
): Promise<void> {
  return withInstallation(async (installation) => {
    if (order === undefined && choice.since === undefined) {
      return complain(new Problem("Name an order, or a time with --since."));
    }
    const chosen = await choose(installation, { ...choice, ...(order && { order }) }, sequence);
    if (chosen instanceof Problem) return complain(chosen);
    const sent = await resendCallbacks(installation.database.query, chosen, systemClock.now());
    if (order !== undefined && sent.length === 0) return complain(nothingFor(order));
    const first = sent.filter(({ asked }) => !asked).length;
    const note = first === 0 ? {} : { "of these earlier ones, which go first": first };
    print({ "to be sent again": sent.length, ...note }, json);
  });
}

async function choose(
  installation: Installation,
  { order: text, since, until, state }: Choice,
  sequence?: string,
): Promise<Chosen | Problem> {
  const times = [since, until].map(readMoment);
  const wanted = state === undefined ? undefined : readState(state);
  const order = text === undefined ? undefined : await findOrder(installation, text);
  if (sequence !== undefined && !/^[1-9]\d{0,5}$/.test(sequence)) {
    return new Problem(`${sequence} is no place of a transaction in its order.`);
  }
  const problem = [...times, wanted, order].find((each) => each instanceof Problem);
  if (problem !== undefined) return problem;
  const [from, to] = times as readonly (Instant | undefined)[];
  return {
    ...{ merchantId: plain(order)?.merchantId, orderId: plain(order)?.id },
    sequence: sequence === undefined ? undefined : Number(sequence),
    ...{ since: from, until: to, state: plain<CallbackState>(wanted) },
  };
}

/** What is left when every problem has been complained of. */
function plain<Value>(value: Value | Problem | undefined): Value | undefined {
  return value instanceof Problem ? undefined : value;
}

function readMoment(text: string | undefined): Instant | undefined | Problem {
  if (text === undefined) return undefined;
  return (
    parseDate(text) ??
    new Problem(`${text} is no moment: write it like 2030-01-31 or 2030-01-31T09:30:00Z.`)
  );
}

function nothingFor(order: string): Problem {
  return new Problem(`No merchant is owed such a callback of order ${order}.`);
}

function printEntries(
  installation: Installation,
  found: readonly CallbackEntry[],
  json: boolean,
): void {
  const lines = entriesOf(installation, found);
  if (json || lines.length > 0) print(lines, json);
  else process.stdout.write("There is no such callback.\n");
}

function entriesOf({ config }: Installation, found: readonly CallbackEntry[]) {
  const printDate = makePrintDate(config.zone);
  return found.map(({ order, sequence, serial, state, tries, made, next, ended, url }) => ({
    ...{ order, sequence, state, tries, made: printDate(made) },
    next: next === null ? "" : printDate(next),
    ended: ended === null ? "" : printDate(ended),
    ...{ "serial-number": serial, url },
  }));
}
