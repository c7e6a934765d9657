/**
 * Order ids are a plain sequence, so everyone can guess the next one. Only the order's merchant,
 * and the browser that has its URL, may use an id.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { endOfFile } from "../../support/end-of-file.ts";
import { assertRefused } from "../../support/expect.ts";
import { type Acknowledged, rebillFields } from "../../support/merchant.ts";
import { cards } from "../../support/threeds.ts";
import { startWorld, type World } from "../../support/world.ts";

const orderNotFound = 6;
/**
 * Members of the client that are not operations of v2; `createCardRefV4` is the same operation as
 * `createCardRef`.
 */
const notOperations = new Set(["id", "sync", "waitForResult", "createCardRefV4"]);

const world = await startWorld(endOfFile);
const stranger = await world.stranger();
const merchant = world.merchant();
const strange = stranger.endpoint("plain");

test("ids are short and follow one another", async () => {
  const first = await merchant.sale();
  const second = await stranger.sale();
  await world.settle();

  assert.match(first["gw-order-id"], /^\d{8}$/);
  assert.equal(Number(second["gw-order-id"]), Number(first["gw-order-id"]) + 1);
});

test("every operation refuses a neighbouring id like one that does not exist", async () => {
  const [own, other] = [await stranger.preauth(), await merchant.preauth()];
  await world.settle();
  const { "card-ref-id": card = "" } = await merchant.register(other);
  const [withOrder, withCard] = [attemptsWithOrder(own, other), attemptsWithCard()];

  const [orders, noOrders] = [
    await tell(withOrder, other["gw-order-id"]),
    await tell(withOrder, "99999999"),
  ];
  const [cardsOf, noCards] = [
    await tell(withCard, card),
    await tell(withCard, "1234567890123456789"),
  ];
  const byRequest = strange.status({
    client_orderid: own["merchant-order-id"],
    "by-request-sn": other["serial-number"],
  });

  assert.deepEqual(orders, noOrders);
  for (const message of orders) assert.match(message, /^ORDER_NOT_FOUND/);
  assert.deepEqual(cardsOf, noCards);
  for (const message of cardsOf) assert.match(message, /^CARD_REFERENCE_NOT_FOUND/);
  await assertRefused(byRequest, orderNotFound);
  assert.equal((await merchant.status(other)).status, "approved");
  // Every operation is tested except those that begin an order without an id.
  const tried = [...Object.keys(withOrder), ...Object.keys(withCard)];
  assert.deepEqual(tried.sort(), Object.keys(strange).filter(takesId).sort());
});

type Attempts = Readonly<Record<string, readonly ((id: string) => Promise<unknown>)[]>>;

function attemptsWithOrder(own: Acknowledged, other: Acknowledged): Attempts {
  const client_orderid = other["merchant-order-id"];
  const theirs = (orderid: string) => ({ client_orderid, orderid });
  const uploaded = (orderid: string) => ({ "client-order-id": client_orderid, orderid });
  const called = (id: string) => ({ ...other, "gw-order-id": id });
  const threeDSServerTransID = "8a880dc0-d2d2-4067-bcb1-b08d1690b26e";
  // biome-ignore format: a table
  return {
    status: [
      (id) => strange.status({ client_orderid: own["merchant-order-id"], orderid: id }),
      (id) => strange.status(theirs(id)),
      (id) => stranger.group().status(theirs(id)),
    ],
    capture:               [(id) => strange.capture(theirs(id)), (id) => strange.sync.capture(theirs(id))],
    return:                [(id) => strange.return(theirs(id)), (id) => strange.sync.return(theirs(id))],
    void:                  [(id) => strange.void(theirs(id)), (id) => strange.sync.void(theirs(id))],
    createCardRef:         [(id) => strange.createCardRef(theirs(id))],
    uploadMethodUrlResult: [(id) => stranger.uploadMethod(called(id), { threeDSServerTransID })],
    uploadCresResult:      [(id) => strange.uploadCresResult({ ...uploaded(id), cres: "e30" })],
    uploadParesResult:     [(id) => strange.uploadParesResult({ ...uploaded(id), paRes: "x", md: "x" })],
  };
}

function attemptsWithCard(): Attempts {
  const rebilled = (cardrefid: string) => rebillFields({ cardrefid, client_orderid: "guessed" });
  // biome-ignore format: a table
  return {
    getCardInfo:       [(id) => stranger.cardInfo(id)],
    removeCardRef:     [(id) => stranger.removeCard(id)],
    makeRebill:        [(id) => strange.makeRebill(rebilled(id)), (id) => strange.sync.makeRebill(rebilled(id))],
    makeRebillSale:    [(id) => strange.makeRebillSale(rebilled(id))],
    makeRebillPreauth: [(id) => strange.makeRebillPreauth(rebilled(id))],
  };
}

function tell(attempts: Attempts, id: string): Promise<readonly string[]> {
  const all = Object.values(attempts).flat();
  return Promise.all(all.map((each) => each(id).then(JSON.stringify, ({ message }) => message)));
}

test("the address of a step opens only its own order, and steps of a neighbour cannot be reported", async () => {
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

test("a receipt has an id that cannot be derived from an order id", async () => {
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

/** Recurring payment profiles are for v4, and have tests of their own. */
function takesId(name: string): boolean {
  const isOther = /^(sale|preauth|accountVerification)(Form)?$|RecurringPayment|^payout|Ticket/;
  return !isOther.test(name) && !notOperations.has(name);
}
