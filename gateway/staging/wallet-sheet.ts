/**
 * The sandbox's wallets for browsers: the script that simulates them, and its requests to the
 * sandbox. The page's policy permits its own origin only, so the gateway passes the requests on.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { FormFault, parseForm } from "@tollgate/protocols/form";
import type { HttpReply, HttpRoute } from "../http/router.ts";
import { findCurrency } from "../values/iso-codes.ts";
import { parseAmount } from "../values/money.ts";
import type { TestCard } from "./welcome-page.ts";

const sandboxAnswersWithinMs = 5_000;
const path = "/staging/wallets";

/** Makes the sheet. It asks for the sandbox's URL at each use, because it may be a new one. */
export function makeWalletSheet(findSandboxUrl: () => Promise<string | undefined>) {
  const walletSheet = readFileSync(join(import.meta.dirname, "wallet-sheet.js"), "utf8");

  async function ask(sandboxPath: string, body?: object): Promise<HttpReply> {
    const url = await findSandboxUrl();
    if (url === undefined) return replyWith(503, "");
    const sent = body && { method: "POST", body: JSON.stringify(body) };
    const signal = AbortSignal.timeout(sandboxAnswersWithinMs);
    const answer = await fetch(`${url}${sandboxPath}`, { ...sent, signal });
    return replyWith(answer.status, await answer.text());
  }

  /** The URL where walleta validates merchants, and the cards that the sheet offers. */
  async function describe(): Promise<HttpReply> {
    const [wallets, scenarios] = [await ask("/wallets"), await ask("/scenarios")];
    if (wallets.status !== 200 || scenarios.status !== 200) return replyWith(503, "");
    const { walleta } = JSON.parse(String(wallets.body));
    const all: readonly TestCard[] = JSON.parse(String(scenarios.body));
    // A wallet's cryptogram replaces 3-D Secure.
    const cards = all.filter(({ group }) => !group.startsWith("3-D Secure"));
    return replyWith(200, JSON.stringify({ validation: walleta.validation, cards }));
  }

  async function mint(wallet: string, body: Uint8Array): Promise<HttpReply> {
    const form = parseForm(body);
    const sent = new Map(form instanceof FormFault ? [] : form.pairs);
    const currency = findCurrency(sent.get("currency") ?? "");
    const amount = currency && parseAmount(sent.get("value") ?? "", currency);
    if (amount === undefined || !/^wallet[ab]$/.test(wallet)) {
      return replyWith(400, "");
    }
    const card = { pan: sent.get("pan") ?? "", expirationYear: 2031, expirationMonth: 12 };
    const payment = { amount: Number(amount.minor), currency: amount.currency.code };
    return ask(`/wallets/${wallet}`, { ...card, ...payment });
  }

  const routes: readonly HttpRoute[] = [
    { method: "GET", path, answer: describe },
    {
      method: "POST",
      path: `${path}/:wallet`,
      answer: ({ params: [wallet = ""], body }) => mint(wallet, body),
    },
  ];
  return { walletSheet, routes };
}

function replyWith(status: number, body: string): HttpReply {
  return {
    status,
    headers: { "content-type": "application/json", "cache-control": "no-store" },
    body,
  };
}
