/**
 * The demonstration shop as a process, as `npm run shop` starts it, beside a gateway, with a line
 * to the gateway that loses requests and replies.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import { copyFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { atEnd, type Test } from "../clean-up.ts";
import type { GatewayProcess } from "../gateway-process.ts";
import { extendProgram, type Program, startProgram } from "../programs.ts";
import { until } from "../until.ts";

export type ShopProcess = Program & { readonly url: string; readonly folder: string };

/** The state of an order as the shop sees it. */
export type ShopOrder = {
  readonly state: "open" | "failed" | "paid" | "refunded";
  readonly detail: string;
  readonly shipped: number;
  readonly refunded: string;
  readonly gatewayOrder: string | null;
};

export type ShopOptions = {
  /** The folder of a shop that has ended, instead of a new folder. */
  readonly folder?: string;
  /** Replaces the gateway's own address. */
  readonly baseUrl?: string;
  readonly settings?: Readonly<Record<string, string>>;
};

export async function startShopProcess(
  t: Test,
  { demo, dataDir }: Pick<GatewayProcess, "demo" | "dataDir">,
  { folder: given, baseUrl = demo.baseUrl, settings = {} }: ShopOptions = {},
): Promise<ShopProcess> {
  const folder = given ?? (await mkdtemp(join(tmpdir(), "tollgate-shop-")));
  const oauth = { ...demo.oauth, privateKeyFile: join(dataDir, demo.oauth.privateKeyFile) };
  await writeFile(join(folder, "demo.json"), JSON.stringify({ ...demo, oauth, baseUrl }));
  const own = { GW_DATA_DIR: folder, SHOP_PORT: "0", SHOP_ASK_EVERY_S: "3600" };
  const program = startProgram(["examples/shop/shop.ts"], { ...own, ...settings });
  atEnd(t, async () => {
    await program.kill();
    await rm(folder, { recursive: true, force: true });
  });
  const url = await until("the shop is open", () => {
    assert.ok(program.isRunning, program.output);
    return /^The shop is open at (\S+)\/$/m.exec(program.output)?.[1];
  });
  return extendProgram(program, { url, folder });
}

export async function orderIn({ url }: ShopProcess, id: string): Promise<ShopOrder> {
  const answer = await fetch(`${url}/orders/${id}.json`);
  assert.equal(answer.status, 200, `${id}: ${answer.status}`);
  return (await answer.json()) as ShopOrder;
}

export function orderBecomes(shop: ShopProcess, id: string, state: ShopOrder["state"]) {
  return until(`order ${id} is ${state}`, async () => {
    const order = await orderIn(shop, id);
    return order.state === state ? order : undefined;
  });
}

/** Posts the form of the checkout. Returns the address to which the browser is redirected. */
export async function postPurchase(shop: ShopProcess, id: string, card: string): Promise<string> {
  const body = new URLSearchParams({
    order: id,
    credit_card_number: card,
    expire_month: "12",
    expire_year: "2031",
    cvv2: "123",
    card_printed_name: "JANE DOE",
  });
  const answer = await fetch(`${shop.url}/buy`, { method: "POST", body, redirect: "manual" });
  assert.equal(answer.status, 303, await answer.text());
  return answer.headers.get("location") ?? "";
}

/** Returns everything that the shop has written: its tables with their log, and its output. */
export async function writtenBy({ folder, output }: ShopProcess): Promise<string> {
  const copies = ["shop.sqlite", "shop.sqlite-wal"].map(async (name) => {
    const copy = join(folder, `copy-${name}`);
    await copyFile(join(folder, name), copy).catch(() => writeFile(copy, ""));
    return readFile(copy, "latin1");
  });
  return [output, ...(await Promise.all(copies))].join("\n");
}

export type LossyLine = {
  readonly url: string;
  /** Loses the next sales, or the replies to them. All else passes. */
  lose(what: "requests" | "replies", count: number): void;
};

export async function startLossyLine(t: Test, target: string): Promise<LossyLine> {
  const left = { requests: 0, replies: 0 };
  const server = createServer(async (request, response) => {
    const { method = "", url = "" } = request;
    const isSale = url.includes("/sale/");
    const body = await buffer(request);
    if (isSale && left.requests > 0) {
      left.requests -= 1;
      return void response.destroy();
    }
    const type = request.headers["content-type"];
    const sent = method === "GET" ? {} : { body: new Uint8Array(body) };
    const headers: Record<string, string> = type === undefined ? {} : { "content-type": type };
    const answer = await fetch(`${target}${url}`, { method, headers, ...sent });
    const reply = new Uint8Array(await answer.arrayBuffer());
    if (isSale && left.replies > 0) {
      left.replies -= 1;
      return void response.destroy();
    }
    response.writeHead(answer.status, {
      "content-type": answer.headers.get("content-type") ?? "text/plain",
    });
    response.end(reply);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  atEnd(t, () => {
    server.close();
    server.closeAllConnections();
  });
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  return {
    url: `http://127.0.0.1:${port}`,
    lose(what, count) {
      left[what] = count;
    },
  };
}
