/**
 * `npm run shop`: a small shop that sells one article through a gateway in staging. It reads the
 * demonstration merchant's credentials from the gateway's data folder, and stores its orders there
 * in a separate file.
 */
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { openOrders } from "./orders.ts";
import { makePayments } from "./payments.ts";
import { makeRoutes } from "./routes.ts";
import { listen, serve } from "./server.ts";

const { SHOP_PORT = "8070", SHOP_HOST = "127.0.0.1", GW_DATA_DIR = "./data" } = process.env;
/** The interval at which the shop asks about orders that no callback has settled. */
const { SHOP_ASK_EVERY_S = "15" } = process.env;
const folder = resolve(GW_DATA_DIR);

const demoFile = join(folder, "demo.json");
if (!existsSync(demoFile)) {
  refuse(`There is no ${demoFile}, which a gateway in staging writes.`);
}
const demo = JSON.parse(readFileSync(demoFile, "utf8"));
const alive = await fetch(`${demo.baseUrl}/health/live`).catch(() => undefined);
if (alive?.ok !== true) refuse(`No gateway answers at ${demo.baseUrl}.`);

const { server, address } = await listen(SHOP_HOST, Number(SHOP_PORT)).catch((error) =>
  refuse(`The shop cannot listen on ${SHOP_HOST}, port ${SHOP_PORT} (${error.code}).`, [
    "Name another port: SHOP_PORT=8071 npm run shop",
  ]),
);
const shopUrl = process.env["SHOP_URL"] ?? address;
/** The address of a program between the gateway and the shop that passes callbacks on. */
const callbackUrl = process.env["SHOP_CALLBACK_URL"] ?? `${shopUrl}/callback`;
// The file contains card references, so only its owner may read it.
process.umask(0o077);
const orders = openOrders(join(folder, "shop.sqlite"));
const gateway = {
  baseUrl: demo.baseUrl,
  endpoint: demo.endpoints.secure,
  login: demo.merchant.login,
  controlKey: demo.merchant.controlKey,
  privateKey: readFileSync(resolve(folder, demo.oauth.privateKeyFile), "utf8"),
};
const payments = makePayments({ gateway, orders, shopUrl, callbackUrl });
const setup = { orders, payments, bankUrl: demo.bank.url, gatewayUrl: demo.baseUrl };
serve(server, makeRoutes({ ...setup, newNonce: () => randomBytes(16).toString("base64") }));

let round = payments.refreshAll().catch(report);
const rounds = setInterval(() => {
  round = round.then(payments.refreshAll).catch(report);
}, Number(SHOP_ASK_EVERY_S) * 1000);

console.log(`The shop is open at ${shopUrl}/`);
console.log(`It sells through the gateway at ${demo.baseUrl}. Ctrl-C closes it.`);

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => {
    clearInterval(rounds);
    // Requests in progress are answered first, because orders are stored before they are sent.
    server.close(() => void round.then(() => orders.close()));
  });
}

function report(error: unknown): void {
  console.error("The round of unsettled orders failed:", error);
}

function refuse(
  problem: string,
  advice: readonly string[] = [
    "Start one first, and leave it running:  npm start",
    "Then, in another terminal:              npm run shop",
    "GW_DATA_DIR must be the same for both.",
  ],
): never {
  console.error([problem, ...advice].join("\n"));
  process.exit(1);
}
