/**
 * `gw certify` tests a merchant's server with difficult situations, which it simulates in the
 * sandbox of a gateway in staging, and grades how the server handles them.
 */

import { randomUUID } from "node:crypto";
import { type Given, preset, required } from "../administration/field.ts";
import type { Output } from "../administration/session.ts";
import { Problem } from "../values/problem.ts";
import { checks } from "./certify-checks.ts";
import { type CertifyStage, openStage, PointsLost } from "./certify-stage.ts";
import { print } from "./command.ts";
import { causeOf, isHttpAddress, openDemonstrationMerchant } from "./demonstration-merchant.ts";
import { ownCommand, type Terminal } from "./machine-command.ts";
import { exitCodes } from "./terminal.ts";

const certifyFields = {
  callbackUrl: required("url", "url", ["where the server receives callbacks"]),
  purchaseUrl: required("url", "url", [
    "where a browser posts a purchase: order, and the card's fields",
  ]),
  orderUrl: required("url", "url", [
    "where the server tells the state of an order, with {order} in it",
  ]),
  gateway: preset("url", "url", "http://localhost:8080", [
    "a gateway in staging, through which the server sells",
  ]),
  wait: preset("whole", "seconds", "90", ["how long to wait for each result of the gateway"]),
  asksWithin: preset("whole", "seconds", "60", [
    "how long the server may take to ask for a result that no callback has announced",
  ]),
};

export const certifyCommands = [
  ownCommand({
    name: "certify",
    fields: certifyFields,
    run: certify,
  }),
];

async function certify(
  options: Given<typeof certifyFields>,
  { json }: Pick<Terminal, "json">,
): Promise<Output> {
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

type Graded = Awaited<ReturnType<typeof grade>>[number];

async function grade(stage: CertifyStage, docs: string) {
  const prepared = new Map<string, string>();
  const lost = new Map<string, string>();
  const attempt = async <Result>(name: string, work: () => Promise<Result> | undefined) => {
    stage.begin(name);
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof PointsLost)) throw error;
      lost.set(name, error.message);
      return undefined;
    }
  };
  for (const { name, prepare } of checks) {
    prepared.set(name, (await attempt(name, () => prepare?.(stage))) ?? "");
  }
  for (const { name, play } of checks) {
    process.stderr.write(`Playing: ${name}\n`);
    if (!lost.has(name)) await attempt(name, () => play(stage, prepared.get(name) ?? ""));
  }
  const changed = await stage.lookAgain();
  return checks.map(({ name, points: of, played, expected, page }) => {
    const reason = lost.get(name) ?? changed.get(name);
    const points = reason === undefined ? of : 0;
    return {
      check: name,
      points,
      of,
      played,
      expected,
      ...(reason && { reason }),
      page: docs + page,
    };
  });
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
