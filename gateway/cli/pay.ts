/**
 * `gw pay` sends a test sale to the gateway as a merchant's server does. It passes the sandbox's
 * 3-D Secure challenge itself, opens it in a browser, or prints its address and waits.
 */
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { text } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import { flag, type Given, option, preset, required } from "../administration/field.ts";
import { findEndpoint } from "../administration/find.ts";
import { loadStaging } from "../administration/installation/staging.ts";
import { type Output, readConfiguration } from "../administration/session.ts";
import { baseUrlOf } from "../config/config.ts";
import { signFor } from "../merchant-api/control.ts";
import { getCurrency } from "../values/iso-codes.ts";
import { parseAmount } from "../values/money.ts";
import { messageOf, Problem } from "../values/problem.ts";
import { installed, type MachineSession } from "./machine-command.ts";
import { exitCodes } from "./terminal.ts";

const pollEveryMs = 500;
const email = "gw-pay@example.com";
/** The sandbox approves payments with this card. */
const testCard = { number: "4000001000000018", month: "12", year: "2031", cvv: "123" };
const cardForm = /^(\d{12,19})\s+(\d\d)\/(\d{4})\s+(\d{3,4})\s*$/;

const payFields = {
  endpoint: required("endpoint", "id", ["the endpoint"]),
  amount: preset("amount", "amount", "1.00", ["in the endpoint's currency"]),
  card: flag(["read the card from standard input, like `4000001000000018 12/2031 123`"]),
  pass: flag(["pass the sandbox's 3-D Secure; in staging"]),
  open: flag(["open the address of 3-D Secure in this machine's browser"]),
  url: option("url", "url", ["where the gateway listens (default: GW_BASE_URL)"]),
  wait: preset("whole", "seconds", "120", ["how long to wait for the result"]),
};
type PayOptions = Given<typeof payFields>;

export const payCommands = [
  installed("record", "move_money", {
    name: "pay",
    fields: payFields,
    perform: pay,
  }),
];

async function pay(session: MachineSession, given: PayOptions): Promise<Output> {
  const { config } = session;
  const endpoint = findEndpoint(await readConfiguration(session), given.endpoint);
  if (endpoint instanceof Problem) return endpoint;
  const money = parseAmount(given.amount, getCurrency(endpoint.currency));
  if (money === undefined) {
    return new Problem(`${given.amount} is no amount in ${endpoint.currency}.`);
  }
  if (!/^\d{1,5}$/.test(given.wait)) return new Problem("--wait is a number of seconds.");
  const card = await readCard(session, given.card === true);
  if (card instanceof Problem) return card;
  const authenticate = await findAuthenticate(session, given);
  if (authenticate instanceof Problem) return authenticate;
  const url = (given.url ?? baseUrlOf(config, config.port)).replace(/(?<!\/)\/+$/, "");
  const send = makeSend(`${url}/${config.pathWord}/api/v2`, endpoint.id);
  const clientOrderId = `gw-pay-${randomBytes(6).toString("hex")}`;
  try {
    const returnUrl = config.environment === "production" ? config.baseUrl : url;
    const signed = `${endpoint.id}${clientOrderId}${money.minor}${email}`;
    const answer = await send("sale", {
      ...saleOf(endpoint.currency, given.amount, card),
      client_orderid: clientOrderId,
      redirect_url: returnUrl,
      control: signFor(endpoint.merchant, signed),
    });
    const orderId = answer.get(`${config.fieldWord}-order-id`) ?? "";
    if (answer.get("type") !== "async-response") return toProblem(answer);
    const { login } = endpoint.merchant;
    const control = signFor(endpoint.merchant, `${login}${clientOrderId}${orderId}`);
    const asked = { login, client_orderid: clientOrderId, orderid: orderId, control };
    const ended = await untilFinal(() => send("status", asked), Number(given.wait), authenticate);
    return { order: orderId, clientOrderId, ...ended };
  } catch (error) {
    return new Problem(`The gateway at ${url} did not answer: ${messageOf(error)}.`);
  }
}

type Authenticate = (address: string) => Promise<void>;

/** Prints the challenge's address. If requested, opens the address, or passes the challenge. */
async function findAuthenticate(
  { config }: MachineSession,
  { pass, open }: PayOptions,
): Promise<Authenticate | Problem> {
  const staging = pass ? await loadStaging(config) : undefined;
  if (pass && staging === undefined) {
    return new Problem("--pass is for the sandbox: in production, open the address.");
  }
  return async (address) => {
    process.stderr.write(`Open this address in a browser: ${address}\n`);
    if (open) openBrowser(address);
    await staging?.passAuthentication(address);
  };
}

function openBrowser(address: string): void {
  const program = process.platform === "darwin" ? "open" : "xdg-open";
  const child = spawn(program, [address], { detached: true, stdio: "ignore" });
  // If the browser does not start, the user can open the printed address by hand.
  child.on("error", () => undefined);
  child.unref();
}

type TestCard = typeof testCard;

async function readCard({ config }: MachineSession, isGiven: boolean): Promise<TestCard | Problem> {
  if (!isGiven && config.environment === "staging") return testCard;
  if (!isGiven) return new Problem("In production the card comes from standard input: --card.");
  const [, number = "", month = "", year = "", cvv = ""] =
    cardForm.exec(await text(process.stdin)) ?? [];
  if (number !== "") return { number, month, year, cvv };
  return new Problem(
    "Standard input has no card: write number, MM/YYYY and CVV, like 4000001000000018 12/2031 123.",
  );
}

function saleOf(currency: string, amount: string, card: TestCard) {
  return {
    order_desc: "Test payment of gw pay",
    amount,
    currency,
    email,
    ipaddress: "127.0.0.1",
    address1: "1 Main Street",
    city: "Springfield",
    state: "IL",
    zip_code: "62701",
    country: "US",
    phone: "+15550100",
    credit_card_number: card.number,
    card_printed_name: "TEST PAYMENT",
    expire_month: card.month,
    expire_year: card.year,
    cvv2: card.cvv,
  };
}

type Fields = Readonly<Record<string, string>>;
type Send = (operation: string, fields: Fields) => Promise<URLSearchParams>;

function makeSend(base: string, id: string): Send {
  return async (operation, fields) => {
    const body = new URLSearchParams(fields);
    const answer = await fetch(`${base}/${operation}/${id}`, { method: "POST", body });
    return new URLSearchParams((await answer.text()).replaceAll("\n", ""));
  };
}

async function untilFinal(ask: () => ReturnType<Send>, waitS: number, authenticate: Authenticate) {
  const giveUpAt = performance.now() + waitS * 1_000;
  let shown = "";
  for (;;) {
    const answer = await ask();
    const { status = "", "order-stage": stage = "", ...rest } = Object.fromEntries(answer);
    const address = rest["redirect-to"] ?? "";
    if (address !== "" && address !== shown) {
      shown = address;
      await authenticate(address);
    }
    const isFinal = status !== "processing";
    if (isFinal || performance.now() > giveUpAt) {
      if (status !== "approved") process.exitCode = exitCodes.findings;
      const error = `${rest["error-code"] ?? ""} ${rest["error-message"] ?? ""}`.trim();
      return { status, stage, ...(error && { error }) };
    }
    await pause(pollEveryMs);
  }
}

function toProblem(answer: URLSearchParams): Problem {
  return new Problem(
    `The gateway refused the sale: ${answer.get("error-message")} (${answer.get("error-code")}).`,
  );
}
