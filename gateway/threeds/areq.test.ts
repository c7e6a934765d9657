/** The AReq is valid with any customer data, and its merchant comes from the gate. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { protocolVersions, writeMessage } from "@tollgate/protocols/emv3ds";
import fc from "fast-check";
import type { Order, Purchase } from "../orders/order.ts";
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
    assert.equal(aReqOf(order)["billAddrState"], sent, state);
  }
});

function aReqOf(order: Order, version = threeds.version) {
  return makeAReq({
    order,
    threeds: { ...threeds, version },
    merchant,
    settings,
    card: { number: new CardNumber("4000002000000016"), expiryYear: "31", expiryMonth: "12" },
    resultsUrl: "https://pay.example/results/visa",
    notificationUrl: "https://pay.example/form/challenge/1/2",
    now: asInstant(1_794_708_246_000),
  });
}

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

type Wish = Pick<Purchase, "challengePreference" | "scaExemption">;
const none = { challengePreference: "no_challenge" } as const;

// biome-ignore format: a table
const wishes: readonly (readonly [wish: Wish, v210: string, v220: string, v231: string])[] = [
  [{ challengePreference: "no_preference" },                 "01", "01", "01"],
  [none,                                                     "02", "02", "02"],
  [{ challengePreference: "challenge" },                     "03", "03", "03"],
  [{ challengePreference: "challenge_mandated" },            "04", "04", "04"],
  [{ scaExemption: "tra" },                                  "02", "05", "05"],
  [{ scaExemption: "trusted_beneficiary" },                  "02", "08", "08"],
  [{ scaExemption: "low_value" },                            "02", "02", "10"],
  [{ ...none, scaExemption: "secure_corporate" },            "02", "02", "11"],
];

test("wishes and exemptions have their indicator in each version, and none after a refusal", () => {
  const versions = ["2.1.0", "2.2.0", "2.3.1"] as const;
  for (const [wish, ...expected] of wishes) {
    for (const [at, version] of versions.entries()) {
      const wanted = { ...draft, purchase: { ...draft.purchase, ...wish } };
      const code = { code: "authentication_required", detail: "" } as const;
      const refused = { ...wanted, transaction: { ...wanted.transaction, demanded: code } };
      const indicatorOf = (order: Order) =>
        [aReqOf(order, version)["threeDSRequestorChallengeInd"]].flat();

      assert.deepEqual(indicatorOf(wanted), [expected[at]], `${JSON.stringify(wish)} ${version}`);
      assert.deepEqual(indicatorOf(refused), [version === "2.3.1" ? "13" : "04"]);
    }
  }
});
