/** The AReq is valid with any customer data, and its merchant comes from the gate. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { protocolVersions, writeMessage } from "@tollgate/protocols/emv3ds";
import fc from "fast-check";
import { draft, threeds } from "../orders/testing.ts";
import { CardNumber } from "../values/card-number.ts";
import { asInstant } from "../values/time.ts";
import { makeAReq, merchantNameOf } from "./areq.ts";

const text = (max: number) => fc.string({ unit: "grapheme", maxLength: max });
const maybe = (max: number) => fc.option(text(max), { nil: undefined });
const country = fc.constantFrom("DE", "US", "XK", "JP", "GB", undefined);

const customers = fc.record({
  firstName: maybe(50),
  lastName: maybe(50),
  phone: maybe(15),
  cellPhone: maybe(15),
  birthday: maybe(8),
  country,
  state: maybe(3),
  city: maybe(50),
  zipCode: maybe(10),
  address: maybe(50),
  email: fc.constantFrom("jane@example.com", undefined),
});

const browsers = fc.record(
  {
    browserJavascriptEnabled: fc.constantFrom("true", "false"),
    browserJavaEnabled: fc.constantFrom("true", "false"),
    browserColorDepth: text(3),
    browserScreenHeight: text(7),
    browserScreenWidth: text(7),
    browserTZ: text(5),
    browserLanguage: text(20),
    browserUserAgent: text(60),
    browserAcceptHeader: text(60),
  },
  { requiredKeys: [] },
);

for (const version of protocolVersions) {
  test(`no customer and no browser can break the AReq (${version})`, () => {
    fc.assert(
      fc.property(customers, browsers, text(60), (customer, properties, holderName) => {
        const known = Object.fromEntries(
          Object.entries(properties).filter(([, value]) => value !== undefined),
        );
        const order = {
          ...draft,
          card: { ...draft.card, holderName },
          purchase: { ...draft.purchase, customer },
        };
        const browser = { completion: "Y", properties: known } as const;
        const message = makeAReq({
          order,
          threeds: { ...threeds, version, browser },
          merchant,
          settings,
          card: { number: new CardNumber("4000002000000016"), expiryYear: "31", expiryMonth: "12" },
          resultsUrl: "https://pay.example/results/visa",
          notificationUrl: "https://pay.example/form/challenge/1/2",
          now: asInstant(1_794_708_246_000),
        });
        assert.ok(writeMessage(message).startsWith("{"));
      }),
      { numRuns: 300 },
    );
  });
}

test("a state that is no code is left out", () => {
  for (const [state, sent] of [
    ["A-", undefined],
    ["-", undefined],
    ["é", undefined],
    ["US-CA", "CA"],
    ["NSW", "NSW"],
  ] as const) {
    const customer = { ...draft.purchase.customer, country: "DE", state };
    const order = { ...draft, purchase: { ...draft.purchase, customer } };
    const message = makeAReq({
      order,
      threeds,
      merchant,
      settings,
      card: { number: new CardNumber("4000002000000016"), expiryYear: "31", expiryMonth: "12" },
      resultsUrl: "https://pay.example/results/visa",
      notificationUrl: "https://pay.example/form/challenge/1/2",
      now: asInstant(1_794_708_246_000),
    });
    assert.equal(message["billAddrState"], sent, state);
  }
});

test("the merchant's name is the first 25 characters of field 43", () => {
  assert.equal(merchantNameOf(merchant, 40), "Sandbox Shop");
  assert.equal(merchantNameOf({ ...merchant, nameAndPlace: "  " }, 40), merchant.merchantCode);
});

const merchant = {
  acquirerId: "400001",
  merchantCode: "TG0000000000001",
  categoryCode: "5732",
  countryCode: "840",
  nameAndPlace: "Sandbox Shop             New York     US",
};

const settings = {
  certificateFile: "",
  keyFile: "",
  authorityFile: "",
  referenceNumber: "3DS_LOA_SER_1",
  operatorId: "10000000001",
  requestorId: "SHOP-1",
  requestorName: "Shop",
  requestorUrl: "https://shop.example",
};
