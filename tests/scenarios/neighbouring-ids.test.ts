/**
 * Order ids are a plain sequence, so anyone knows the next one. Nothing that an id opens is open to
 * anyone but the order's merchant and the browser that has its link.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { endOfFile } from "../support/clean-up.ts";
import { cards } from "../support/threeds.ts";
import { startWorld, type World } from "../support/world.ts";

const world = await startWorld(endOfFile);
const stranger = await world.stranger();
const merchant = world.merchant();

test("ids are short and follow one another", async () => {
  const first = await merchant.sale();
  const second = await stranger.sale();
  await world.settle();

  assert.match(first["gw-order-id"], /^\d{8}$/);
  assert.equal(Number(second["gw-order-id"]), Number(first["gw-order-id"]) + 1);
});

test("a neighbour's id is refused as one that does not exist, in every operation", async () => {
  const own = await stranger.preauth();
  const other = await merchant.preauth();
  await world.settle();
  const nobodys = "99999999";

  const attempts = (id: string) => {
    const named = { "client_orderid": own["merchant-order-id"], "orderid": id };
    const theirs = { "client_orderid": other["merchant-order-id"], "orderid": id };
    const uploaded = { "client-order-id": other["merchant-order-id"], "orderid": id };
    const endpoint = stranger.endpoint("plain");
    return [
      () => endpoint.status(named),
      () => endpoint.status(theirs),
      () => stranger.group().status(theirs),
      () => endpoint.capture(theirs),
      () => endpoint.return(theirs),
      () => endpoint.createCardRef(theirs),
      () => endpoint.uploadCresResult({ ...uploaded, cres: "e30" }),
      () => endpoint.uploadParesResult({ ...uploaded, paRes: "x", md: "x" }),
    ];
  };
  const tell = async (attempt: () => Promise<unknown>) =>
    attempt().then(JSON.stringify, ({ message }) => message);
  const neighbours = await Promise.all(attempts(other["gw-order-id"]).map(tell));
  const absent = await Promise.all(attempts(nobodys).map(tell));

  assert.deepEqual(neighbours, absent);
  for (const message of neighbours) assert.match(message, /^ORDER_NOT_FOUND/);
  assert.equal((await merchant.status(other)).status, "approved");
});

test("a link opens its own order and no neighbour, and steps cannot be reported for one", async () => {
  const [own, other] = [await beginChallenge(world), await beginChallenge(world)];
  const pages = ["redirect", "method", "method-result", "challenge", "pares"];
  const form = { method: "POST", body: new URLSearchParams({ cres: "e30", PaRes: "x", MD: "x" }) };
  const open = async (link: string, id: string) =>
    Promise.all(
      pages.map(async (page) => {
        const address = link.replace("/redirect/", `/${page}/`).replace(own.id, id);
        const answer = await fetch(address, page === "redirect" ? {} : form);
        return [answer.status, (await answer.text()).replaceAll(id, "")];
      }),
    );

  const neighbours = await open(own.link, other.id);
  const absent = await open(own.link, "99999999");

  assert.notEqual(own.link.split("/").at(-1), other.link.split("/").at(-1));
  assert.deepEqual(neighbours, absent);
  for (const [status] of neighbours) assert.equal(status, 404);
  assert.equal((await fetch(own.link)).status, 200);
  assert.equal((await world.merchant("secure").status(other.order))["tds-status"], "CReqForm");
});

test("a receipt has an id of its own, which no order id leads to", async () => {
  const [own, other] = [await merchant.sale(), await merchant.sale()];
  await world.settle();
  const [link, neighbour] = [await world.receiptLink(own), await world.receiptLink(other)];
  const idIn = (address: string) => BigInt(new URL(address).pathname.split("/").at(-2) ?? 0);
  const withId = (id: bigint | string) => link.replace(String(idIn(link)), String(id));

  const guesses = [other["gw-order-id"], idIn(link) + 1n, idIn(link) - 1n].map(withId);
  const answers = await Promise.all(guesses.map((guess) => fetch(guess)));

  assert.deepEqual(
    answers.map(({ status }) => status),
    [404, 404, 404],
  );
  const distance = idIn(link) - idIn(neighbour);
  assert.ok(distance > 2n ** 64n || distance < -(2n ** 64n), "receipts of neighbours are alike");
});

async function beginChallenge({ settle, merchant: make }: World) {
  const secure = make("secure");
  const order = await secure.sale({ credit_card_number: cards.challengeNoMethod });
  await settle();
  const { "redirect-to": link = "" } = await secure.status(order);
  return { order, id: order["gw-order-id"], link };
}
