/** Screening: the orders that an endpoint's settings refuse, and the gates of the others. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { endpointWith } from "../merchant-api/testing.ts";
import type { Endpoint, EndpointGate, EndpointSettings } from "../orders/merchant.ts";
import type {
  Finding,
  Order,
  RuleAction,
  TransactionKind,
  WalletPayment,
} from "../orders/order.ts";
import { conditions, draft } from "../orders/testing.ts";
import { asGateId, type GateId } from "../values/ids.ts";
import { getCurrency } from "../values/iso-codes.ts";
import { Money } from "../values/money.ts";
import { screen } from "./screen.ts";

const first: EndpointGate = {
  id: asGateId("1"),
  name: "first",
  rank: 1,
  weight: 1,
  terminalId: "10000018",
  descriptor: "GATE",
  shownDescriptor: "SHOP",
  worksWithoutCvv: false,
  amountDigits: 12,
  partialReversal: true,
  partialCapture: false,
};
const second: EndpointGate = { ...first, id: asGateId("2"), name: "second", rank: 2 };

// biome-ignore format: a table
const limits: readonly (readonly [minor: bigint, kind: TransactionKind, outcome: string])[] = [
  [499n,   "sale",                 "amount_below_minimum"],
  [500n,   "sale",                 "cleared"],
  [2_000n, "preauth",              "cleared"],
  [2_001n, "preauth",              "amount_above_maximum"],
  [0n,     "account-verification", "cleared"],
];

test("amounts outside the endpoint's limits are filtered; a verification has no amount", () => {
  const endpoint = endpointOf({ amountMin: "500", amountMax: "2000" }, [first]);

  for (const [minor, kind, outcome] of limits) {
    const event = screenAt(endpoint, orderOf(minor, kind));
    assert.equal(event.kind === "filtered_out" ? event.reason.code : event.kind, outcome);
  }
});

test("the endpoint's policy says whether 3-D Secure comes before the charge", () => {
  const screenWith = (threeDSecure: EndpointSettings["threeDSecure"]) =>
    screenAt(endpointOf({ threeDSecure }, [first]), orderOf(1_042n));

  assert.equal(screenWith("off").kind, "cleared");
  assert.equal(screenWith("when_possible").kind, "cleared_for_3ds");
  assert.equal(screenWith("always").kind, "cleared_for_3ds");
});

const named = { rule: "1", kind: "velocity", scope: "endpoint" } as const;
const fires = (action: RuleAction): Finding => ({
  ...named,
  action,
  code: "velocity_exceeded",
  facts: {},
});
const cannotTell: Finding = { ...named, missing: "purpose" };

// biome-ignore format: a table
const settled: readonly (readonly [found: readonly Finding[], by: "CARDHOLDER" | "MERCHANT", outcome: string, did: readonly string[]])[] = [
  [[cannotTell],                             "CARDHOLDER", "cleared",           ["no data"]],
  [[fires("mark")],                          "CARDHOLDER", "cleared",           ["mark"]],
  [[fires("mark"), fires("block")],          "CARDHOLDER", "velocity_exceeded", ["mark", "block"]],
  [[fires("force_3ds")],                     "CARDHOLDER", "forced",            ["force_3ds"]],
  [[fires("force_3ds")],                     "MERCHANT",   "cleared",           ["mark"]],
  [[fires("force_3ds"), fires("block")],     "MERCHANT",   "velocity_exceeded", ["mark", "block"]],
  [[fires("block"), fires("allow")],         "CARDHOLDER", "cleared",           ["mark", "allow"]],
  [[fires("allow"), fires("force_3ds")],     "CARDHOLDER", "cleared",           ["allow", "mark"]],
];

test("rules block, force 3-D Secure where a cardholder is present, and mark", () => {
  for (const [findings, initiator, outcome, did] of settled) {
    const credential = { initiator, scenario: "REGULAR", networkId: undefined } as const;
    const order = { ...orderOf(1_042n), purchase: { ...draft.purchase, credential } };
    const event = screenAt(endpointOf({}, [first]), order, [first.id], findings);
    const isForced = event.kind === "cleared_for_3ds" && event.isForced === true;
    const reason = event.kind === "filtered_out" ? event.reason : undefined;
    const kept = "findings" in event ? (event.findings ?? []) : [];

    assert.equal(isForced ? "forced" : (reason?.code ?? event.kind), outcome);
    assert.equal(reason?.detail ?? "", "");
    assert.deepEqual(
      kept.map((each) => ("action" in each ? each.action : "no data")),
      did,
    );
  }
});

const verified = { type: "walletb_encrypted", isDevice: true } as const;
const unverified = { type: "walletb_decrypted", isDevice: true } as const;
const force = [fires("force_3ds")];

// biome-ignore format: a table
const byWallet: readonly (readonly [wallet: WalletPayment, policy: EndpointSettings["threeDSecure"], found: readonly Finding[], outcome: string])[] = [
  [{ type: "walletb_encrypted" }, "when_possible", [],    "cleared_for_3ds"],
  [verified,                      "always",        [],    "cleared"],
  [verified,                      "off",           force, "cleared"],
  [unverified,                    "off",           [],    "cleared"],
  [unverified,                    "when_possible", [],    "cleared"],
  [unverified,                    "always",        [],    "cleared_for_3ds"],
  [unverified,                    "off",           force, "cleared_for_3ds"],
  [unverified,                    "when_possible", force, "cleared_for_3ds"],
];

test("only a verified cryptogram replaces 3-D Secure that the endpoint or a rule requires", () => {
  for (const [wallet, threeDSecure, findings, outcome] of byWallet) {
    const { transaction, ...order } = orderOf(1_042n);
    const authentication = wallet.isDevice && { eci: "05" };
    const event = screenAt(
      endpointOf({ threeDSecure }, [first]),
      {
        ...order,
        purchase: { ...draft.purchase, wallet },
        transaction: { ...transaction, authentication },
      },
      [first.id],
      findings,
    );

    assert.equal(event.kind, outcome, `${wallet.type} ${threeDSecure} ${findings.length}`);
  }
});

test("an allowed payment keeps to the endpoint's limits", () => {
  const endpoint = endpointOf({ amountMax: "500" }, [first]);
  const event = screenAt(endpoint, orderOf(1_042n), [first.id], [fires("allow")]);

  assert.ok(event.kind === "filtered_out");
  assert.equal(event.reason.code, "amount_above_maximum");
});

test("an order goes past a gate that is not ready", () => {
  const event = screenAt(endpointOf({}, [first, second]), orderOf(1_042n), [second.id]);

  assert.ok(event.kind === "cleared");
  assert.equal(event.gate.id, second.id);
  assert.equal(event.gate.choice, "rank 2, because first was not ready");
});

test("an order that no gate may have ends at once", () => {
  const event = screenAt(endpointOf({}, [{ ...first, currencies: ["JPY"] }]), orderOf(1_042n));

  assert.deepEqual(event, { kind: "gate_unavailable", reason: { code: "no_gate", detail: "" } });
});

test("a change of the endpoint's limits counts from the next order", () => {
  const before = endpointOf({ amountMax: "500" }, [first]);
  const after = endpointOf({ amountMax: "5000" }, [first]);

  assert.equal(screenAt(before, orderOf(1_042n)).kind, "filtered_out");
  assert.equal(screenAt(after, orderOf(1_042n)).kind, "cleared");
});

function screenAt(
  endpoint: Endpoint,
  order: Order,
  ready: readonly GateId[] = [first.id],
  findings?: readonly Finding[],
) {
  const found = findings && { findings };
  return screen(order, { ...conditions, endpoint, readyGates: new Set(ready), ...found });
}

function endpointOf(settings: Partial<EndpointSettings>, gates: readonly EndpointGate[]): Endpoint {
  return { ...endpointWith([]), gates, settings: { threeDSecure: "off", ...settings } };
}

function orderOf(minor: bigint, kind: TransactionKind = "sale"): Order {
  const amount = new Money(minor, getCurrency("USD"));
  return { ...draft, transaction: { ...draft.transaction, kind, amount } };
}
