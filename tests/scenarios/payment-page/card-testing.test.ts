/** Card testers at the payment page: how many of their tries reach the bank. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { endOfFile } from "../../support/end-of-file.ts";
import { saleFields } from "../../support/merchant.ts";
import { challengeIn, openPage, postPage, type Shown, solve } from "../../support/payer.ts";
import { readGw } from "../../support/programs.ts";
import { chargesAt } from "../../support/threeds.ts";
import { startWorld } from "../../support/world.ts";

const [perLink, perAddress, perCard] = [8, 6, 4];
const world = await startWorld(endOfFile, {
  GW_PAYMENT_PAGE_TRIES_PER_LINK: String(perLink),
  GW_PAYMENT_PAGE_TRIES_PER_IP: String(perAddress),
  GW_PAYMENT_PAGE_TRIES_PER_CARD: String(perCard),
  GW_PROOF_OF_WORK_BITS: "6",
  GW_TRUSTED_PROXIES: "127.0.0.0/8,::1/128",
});
const endpoint = world.set.endpoints["plain"] ?? assert.fail();

let hosts = 0;
const from = (address = `198.51.100.${++hosts}`) => ({ "x-forwarded-for": address });
const declined = { "cc-csc": "116" };

/** Each try has a card of its own by default. */
let cards = 0;
function newCard(): string {
  const digits = `411111${String(++cards).padStart(9, "0")}`;
  const sum = [...digits].reduce((all, digit, at) => {
    const value = Number(digit) * (at % 2 === 0 ? 2 : 1);
    return all + (value > 9 ? value - 9 : value);
  }, 0);
  return `${digits}${(10 - (sum % 10)) % 10}`;
}

async function makeLink(): Promise<{ readonly link: string; readonly url: string }> {
  const words = ["--endpoint", endpoint, "--amount", "1.00", "--currency", "USD", "--uses", "many"];
  const { link, url } = (await readGw(world, "link", "create", ...words)) as {
    readonly link: string;
    readonly url: string;
  };
  return { link, url: `${world.gateway.url}${new URL(url).pathname}` };
}

/** Opens the page of an order that the shop has begun. */
async function beginOrder(): Promise<string> {
  const { credit_card_number: _, cvv2: __, ipaddress: ___, ...fields } = saleFields();
  const { card_printed_name: _n, expire_month: _m, expire_year: _y, ...form } = fields;
  const order = await world.merchant().endpoint("plain").saleForm(form);
  return order["redirect-url"] ?? assert.fail();
}

/** Tries a card like a patient tester: with the proof of work if the page requires one. */
async function tryCard(url: string, address = from(), number = newCard()): Promise<Shown> {
  const page = await openPage(url, address);
  if (page.location !== "") return page;
  const proofFor = (shown: Shown) =>
    shown.text.includes("data-challenge") ? { proof: solve(challengeIn(shown)) } : {};
  const fields = { ...declined, "cc-number": number };
  let answer = await postPage(page, { ...fields, ...proofFor(page) }, address);
  // The card also decides about the proof, and the page did not know it before.
  if (answer.text.includes("data-challenge")) {
    answer = await postPage(answer, { ...fields, ...proofFor(answer) }, address);
  }
  await world.settle();
  return answer;
}

test("many cards at one payment link cost growing work, and do not close it to others", async () => {
  const { link, url } = await makeLink();
  const before = chargesAt(world);
  const bitsAt = async () => Number(challengeIn(await openPage(url, from())).split(".")[0]);
  const early: Shown[] = [];
  for (let count = 0; count < perLink; count += 1) {
    if (count === perLink - 1) early.push(await openPage(url, from()));
    await tryCard(url);
  }
  const bits = [await bitsAt()];
  for (let count = 0; count < perLink; count += 1) await tryCard(url);
  bits.push(await bitsAt());
  // Many pages are posted at once without work, and one with work that was enough before.
  const pages = await Promise.all(Array.from({ length: 20 }, () => openPage(url, from())));
  const [easy = assert.fail()] = early;
  const posts = await Promise.all([
    ...pages.map((page) => postPage(page, { ...declined, "cc-number": newCard() }, from())),
    postPage(
      easy,
      { ...declined, "cc-number": newCard(), proof: solve(challengeIn(easy)) },
      from(),
    ),
  ]);
  await world.settle();

  assert.deepEqual(bits, [7, 8]);
  assert.equal(chargesAt(world) - before, 2 * perLink);
  assert.deepEqual([...new Set(posts.map(({ status }) => status))], [429]);
  const orders = (await readGw(world, "order", "list", "--link", link)) as readonly unknown[];
  assert.equal(orders.length, 2 * perLink, "refused tries begin no orders");
  assert.equal((await tryCard(url)).status, 303, "a customer who does the work is let in");
  world.clock.advance(3_600_000);
  await world.linksUp();
  assert.doesNotMatch((await openPage(url, from())).text, /data-challenge/);
});

test("a proof is valid once, for its page and difficulty, and without scripts the page says so", async () => {
  const address = from();
  for (let count = 0; count < perAddress / 2; count += 1)
    await tryCard(await beginOrder(), address);
  const before = chargesAt(world);
  const [url, foreign] = [await beginOrder(), await beginOrder()];
  const page = await openPage(url, address);
  const challenge = challengeIn(page);
  assert.match(page.text, /<noscript>.*allow scripts/s);
  const post = async (proof: string) => {
    const answer = await postPage(page, { ...declined, "cc-number": newCard(), proof }, address);
    await world.settle();
    return answer;
  };

  const easier = challenge.replace(/^\d+/, "0");
  const ofAnother = solve(challengeIn(await openPage(foreign, address)));
  for (const wrong of ["", "x", `${easier}:0`, ofAnother]) {
    const answer = await post(wrong);
    assert.equal(answer.status, 429, wrong);
    assert.match(answer.text, /data-challenge=/);
  }
  assert.equal(chargesAt(world), before);
  world.clock.advance(3_600_000);
  await world.linksUp();
  const fresh = await beginOrder();
  for (let count = 0; count < perAddress / 2; count += 1)
    await tryCard(await beginOrder(), address);
  const charged = chargesAt(world);
  const shown = await openPage(fresh, address);
  const proof = solve(challengeIn(shown));
  const fields = { ...declined, "cc-number": newCard(), proof };
  assert.equal((await postPage(shown, fields, address)).status, 303);
  await world.settle();
  assert.equal((await postPage(shown, fields, address)).status, 429, "replayed on its own page");
  await world.settle();
  assert.equal(chargesAt(world) - charged, 1);
});

test("an IPv6 network of 64 bits is one payer, and a card is one everywhere", async () => {
  const before = chargesAt(world);
  for (let count = 0; count < perAddress + 4; count += 1) {
    await tryCard(await beginOrder(), from(`2001:db8:7:7::${count + 1}`));
  }
  assert.equal(chargesAt(world) - before, perAddress);
  await tryCard(await beginOrder(), from("2001:db8:7:8::1"));
  assert.equal(chargesAt(world) - before, perAddress + 1);

  const number = newCard();
  const since = chargesAt(world);
  for (let count = 0; count < perCard + 3; count += 1) {
    await tryCard(await beginOrder(), from(), number);
  }
  assert.equal(chargesAt(world) - since, perCard);
});

test("a client that the proxy does not name cannot choose its own address", async () => {
  const before = chargesAt(world);
  for (let count = 0; count < perAddress + 4; count += 1) {
    // The last entry of the header is the proxy's.
    await tryCard(await beginOrder(), { "x-forwarded-for": `203.0.113.${count}, 192.0.2.99` });
  }
  assert.equal(chargesAt(world) - before, perAddress);
});
