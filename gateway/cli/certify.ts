/**
 * `gw certify`: plays the worst days of a merchant against the merchant's own server, with the
 * sandbox of a gateway in staging, and grades what the server makes of them.
 */
import { randomUUID } from "node:crypto";
import { type Command, Option } from "commander";
import { Problem } from "../values/problem.ts";
import { type CertifyCheck, checks } from "./certify-checks.ts";
import { type CertifyStage, openStage } from "./certify-stage.ts";
import { type Output, print, setOutput } from "./command.ts";
import { causeOf, isHttpAddress, openDemonstrationMerchant } from "./demonstration-merchant.ts";
import { exitCodes } from "./terminal.ts";

type CertifyOptions = {
  readonly purchaseUrl: string;
  readonly callbackUrl: string;
  readonly orderUrl: string;
  readonly gateway: string;
  readonly wait: string;
  readonly asksWithin: string;
};

export function addCertify(command: Command): void {
  const run = (given: never[], json: boolean) => certify(given.at(-1) ?? ({} as never), json);
  // biome-ignore format: a table
  setOutput(command, run, [
    new Option("--callback-url <url>", "where the server receives callbacks").makeOptionMandatory(),
    new Option("--purchase-url <url>", "where a browser posts a purchase: order, and the card's fields").makeOptionMandatory(),
    new Option("--order-url <url>", "where the server tells the state of an order, with {order} in it").makeOptionMandatory(),
    new Option("--gateway <url>", "a gateway in staging, through which the server sells").default("http://localhost:8080"),
    new Option("--wait <seconds>", "how long to wait for each result of the gateway").default("90"),
    new Option("--asks-within <seconds>", "how long the server may take to ask for a result that no callback has announced").default("60"),
  ]);
}

async function certify(options: CertifyOptions, json: boolean): Promise<Output> {
  const { purchaseUrl, callbackUrl, orderUrl, wait, asksWithin } = options;
  for (const url of [purchaseUrl, callbackUrl, orderUrl]) {
    if (!isHttpAddress(url))
      return new Problem(`${url} is no address like http://localhost:3000/.`);
  }
  if (!orderUrl.includes("{order}")) return new Problem("--order-url has no {order} in it.");
  if (![wait, asksWithin].every((each) => /^[1-9]\d{0,3}$/.test(each))) {
    return new Problem("--wait and --asks-within are numbers of seconds.");
  }
  const merchant = await openDemonstrationMerchant(options.gateway);
  if (merchant instanceof Problem) return merchant;
  const unknown = await fetch(orderUrl.replaceAll("{order}", randomUUID())).catch(causeOf);
  if (typeof unknown === "string")
    return new Problem(`Nothing answers at ${orderUrl}: ${unknown}.`);
  const times = { waitMs: Number(wait) * 1_000, asksWithinMs: Number(asksWithin) * 1_000 };
  const stage = await openStage(merchant, { purchaseUrl, callbackUrl, orderUrl, ...times });
  if (stage instanceof Problem) return stage;
  const graded = await grade(stage, `${merchant.url}/docs/`);
  const total = { points: sum(graded, "points"), of: sum(graded, "of") };
  if (total.points < total.of) process.exitCode = exitCodes.findings;
  if (json) return { ...total, checks: graded };
  printGrades(graded);
  return `${total.points} of ${total.of} points.`;
}

type Graded = {
  readonly check: string;
  readonly points: number;
  readonly of: number;
  readonly played: string;
  readonly expected: string;
  /** Why points were lost. */
  readonly reason?: string;
  readonly page: string;
};

async function grade(stage: CertifyStage, docs: string): Promise<readonly Graded[]> {
  const prepared: (string | Problem)[] = [];
  const lost = new Map<string, Problem>();
  for (const { name, prepare } of checks) {
    stage.begin(name);
    prepared.push((await prepare?.(stage)) ?? "");
  }
  for (const [at, { name, play }] of checks.entries()) {
    process.stderr.write(`Playing: ${name}\n`);
    stage.begin(name);
    const order = prepared[at] ?? "";
    const reason = order instanceof Problem ? order : await play(stage, order);
    if (reason !== undefined) lost.set(name, reason);
  }
  const changed = await stage.lookAgain();
  return checks.map((check) =>
    gradeOne(check, lost.get(check.name) ?? changed.get(check.name), docs),
  );
}

function gradeOne(check: CertifyCheck, lost: Problem | undefined, docs: string): Graded {
  const { name, points: of, played, expected, page } = check;
  const points = lost === undefined ? of : 0;
  const why = lost === undefined ? {} : { reason: lost.sentence };
  return { check: name, points, of, played, expected, ...why, page: docs + page };
}

function printGrades(graded: readonly Graded[]): void {
  print(
    graded.map(({ check, points, of, played }) => ({ check, points: `${points}/${of}`, played })),
  );
  for (const { check, of, expected, reason, page } of graded) {
    if (reason === undefined) continue;
    print(`\n${check}: ${of} points lost. ${reason}\n  Expected: ${expected}.\n  Read: ${page}`);
  }
  print("");
}

function sum(graded: readonly Graded[], name: "points" | "of"): number {
  return graded.reduce((total, each) => total + each[name], 0);
}
