/** Links belong to one order and lead to it for a limited time. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { draft, start } from "../orders/testing.ts";
import { asCardId } from "../values/ids.ts";
import { later } from "../values/time.ts";
import { makeFindByLink, makeLinks, stepOf } from "./browser-steps.ts";

const lifeMs = 60_000;
const links = makeLinks({
  baseUrl: () => "https://pay.example",
  pathWord: "gw",
  tokenOf: (text) => `t(${text})`,
  isToken: (text, token) => token === `t(${text})`,
});
const token = `t(link/${draft.id})`;

test("a link leads to its order until it expires", async () => {
  assert.equal(await find(draft.id, token), draft);
  assert.equal(await find(draft.id, token, lifeMs), draft);
  assert.equal(await find(draft.id, token, lifeMs + 1), undefined);
});

test("a link that the gateway did not make leads nowhere", async () => {
  assert.equal(await find(draft.id, `t(frame/${draft.id})`), undefined);
  assert.equal(await find("1", token), undefined);
  assert.equal(await find("not-a-number", token), undefined);
});

test("the frame of the issuer's method is given a token that opens no page", () => {
  assert.equal(
    links.to("redirect", draft.id),
    `https://pay.example/gw/form/redirect/${draft.id}/${token}`,
  );
  assert.ok(!links.to("method-frame", draft.id).includes(token));
});

test("the MD of one try on the payment page is none of the next one", () => {
  const page = { expiresAt: start, triesMax: 3, refused: [] };
  const [first, second] = [asCardId("1"), asCardId("2")].map((cardId) => {
    return { ...draft, page, card: { ...draft.card, cardId } };
  });
  assert.ok(first !== undefined && second !== undefined);

  assert.ok(links.isMd(first, links.mdOf(first)));
  assert.ok(!links.isMd(second, links.mdOf(first)));
});

test("an order that waits for no browser has no step", () => {
  assert.equal(stepOf(draft, links), undefined);
});

function find(orderId: string, given: string, ageMs = 0) {
  const findByNumber = async (number: number) => (number === Number(draft.id) ? draft : undefined);
  const now = () => later(draft.acceptedAt ?? start, ageMs);
  return makeFindByLink({ findByNumber, links, clock: { now }, lifeMs })(orderId, given);
}
