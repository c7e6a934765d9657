/**
 * 3-D Secure as merchants drive it server to server: begins an order, takes its steps one by one,
 * and reads what reached the bank. Nothing here asserts.
 */
import assert from "node:assert/strict";
import type { StatusReply } from "@tollgate/client";
import { ascii } from "../../sandbox-bank/acquirer-host/dialects.ts";
import type { Test } from "./clean-up.ts";
import type { Acknowledged, SaleFields } from "./merchant.ts";
import { joinWorld } from "./shared-world.ts";
import { until, untilTrue } from "./until.ts";
import { startWorld, type World } from "./world.ts";

// biome-ignore format: a table
export const cards = {
  frictionless:          "4000002000000016",
  challenge:             "4000002000000024",
  challengeFailed:       "4000002000000032",
  challengeCancelled:    "4000002000000040",
  challengeAbandoned:    "4000002000000057",
  directoryTimeout:      "4000002000000115",
  resultLate:            "4000002000000123",
  resultDiffers:         "4000002000000131",
  frictionlessNoMethod:  "4000002100000015",
  challengeNoMethod:     "4000002100000023",
  challenge231:          "4000002300000021",
  v1Authenticated:       "4000003000000014",
  v1BadSignature:        "4000003000000055",
  notEnrolled:           "4000001000000018",
  scaRequired:           "4000004000000111",
  amountDriven:          "4000004000000202",
  /**
   * A card that is not in the bank's catalogue: its authentication is frictionless, and its CVV
   * decides at the host.
   */
  other:                 "4111111111111111",
} as const;

export type Kind = "sale" | "preauth" | "verify";
export type Merchant = ReturnType<World["merchant"]>;
/** An order and the merchant that drives it. */
export type Pending = {
  readonly world: World;
  readonly merchant: Merchant;
  readonly order: Acknowledged;
};

const directoryTimeoutMs = 7_000;

/**
 * Starts a world in which hours may pass, because its links to the bank are not tested by echoes.
 */
export function startPatientWorld(t: Test, settings: Readonly<Record<string, string>> = {}) {
  return startWorld(t, { ...patient, ...settings });
}

export function joinPatientWorld(t: Test) {
  return joinWorld(t, patient);
}

const patient = { GW_ACQUIRER_ECHO_AFTER_S: "86400", GW_DIRECTORY_TIMEOUT_S: "7" };

/** Lets the time limit of a directory server pass that was asked and does not answer. */
export async function passDirectoryTimeout({ clock }: World): Promise<void> {
  await untilTrue("a directory server is asked", () => clock.isAwaited(directoryTimeoutMs));
  clock.advance(directoryTimeoutMs);
}

type Beginning = {
  readonly through?: string;
  readonly kind?: Kind;
  readonly fields?: SaleFields;
};

/**
 * Begins an order, and waits for the first step that the cardholder's browser has to take, or for
 * the end.
 */
export async function beginWith(
  world: World,
  card: string,
  beginning: Beginning = {},
): Promise<Pending> {
  const pending = await beginOnly(world, card, beginning);
  await world.settle();
  return pending;
}

/** Begins an order without waiting for what follows. */
export async function beginOnly(
  world: World,
  card: string,
  { through = "secure", kind = "sale", fields = {} }: Beginning = {},
): Promise<Pending> {
  const merchant = world.merchant(through);
  const order = await merchant[kind]({ credit_card_number: card, ...fields });
  return { world, merchant, order };
}

export function statusOf({ merchant, order }: Pending): Promise<StatusReply> {
  return merchant.status(order);
}

/** Reports that the issuer's method has run. Returns the status after what follows from it. */
export async function uploadMethod(pending: Pending): Promise<StatusReply> {
  await uploadMethodOnly(pending);
  await pending.world.settle();
  return statusOf(pending);
}

/** Does the same without waiting for what follows. */
export async function uploadMethodOnly(pending: Pending, fields: SaleFields = {}) {
  const status = await statusOf(pending);
  const threeDSServerTransID = status["tds-method-url-frame-3ds-server-trans-id"] ?? "";
  return pending.merchant.uploadMethod(pending.order, { threeDSServerTransID, ...fields });
}

/** Begins a sale that waits for its challenge, whose form is in the status. */
export async function beginChallenge(
  world: World,
  card: string = cards.challenge,
  beginning: Beginning = {},
): Promise<Pending & { readonly status: StatusReply }> {
  const pending = await beginWith(world, card, beginning);
  const first = await statusOf(pending);
  const status = first["tds-status"] === "CReqForm" ? first : await uploadMethod(pending);
  assert.equal(status["tds-status"], "CReqForm");
  return { ...pending, status };
}

/** Begins a sale that waits for its PaRes. */
export async function beginPares(
  world: World,
  card: string = cards.v1Authenticated,
  beginning: Beginning = {},
): Promise<Pending & { readonly status: StatusReply }> {
  const pending = await beginWith(world, card, beginning);
  const status = await statusOf(pending);
  assert.equal(status["tds-status"], "PaReqForm");
  return { ...pending, status };
}

/** Returns the 3DS Server's id of the authentication, from the form of a challenge. */
export function transactionIdOf(status: StatusReply): string {
  return readChallenge(status).threeDSServerTransID;
}

type ChallengeRequest = {
  readonly messageVersion: string;
  readonly threeDSServerTransID: string;
  readonly acsTransID: string;
};

export function readChallenge(status: StatusReply): ChallengeRequest {
  const creq = status["tds-creq-form-creq"] ?? "";
  return JSON.parse(Buffer.from(creq, "base64url").toString());
}

/** Forges a CRes, with the correct ids unless others are given. */
export function forgeCres(status: StatusReply, more: object = {}): string {
  const { messageVersion, threeDSServerTransID, acsTransID } = readChallenge(status);
  const cres = {
    messageType: "CRes",
    messageVersion,
    threeDSServerTransID,
    acsTransID,
    transStatus: "Y",
    ...more,
  };
  return Buffer.from(JSON.stringify(cres)).toString("base64url");
}

/** Returns the names of the fields of the status that describe the step of the browser. */
export function stepFieldsOf(status: StatusReply): readonly string[] {
  const names = Object.keys(status);
  return names.filter((name) => /^(tds-|html$|redirect-to$)/.test(name)).sort();
}

/** Returns the main fields of the status, which a merchant reads first. */
export function standingOf(status: StatusReply) {
  return [
    status["order-stage"],
    status["error-code"],
    status["verified-3d-status"],
    status.eci,
  ] as const;
}

/**
 * Returns the ECI and the authentication value of the charge, or undefined if no charge was sent.
 */
export async function proofAtHost({ bank }: World, status: StatusReply) {
  const reference = status["processor-rrn"];
  if (reference === undefined) return undefined;
  const [first] = bank.messages(reference);
  if (first === undefined) return undefined;
  const message = await bank.waitForMessage({ mti: first.mti, reference });
  const proof = ascii.readProof(message.fields);
  assert.ok(proof !== undefined, "field 48 cannot be read");
  return { eci: proof.eci, value: proof.authenticationValue };
}

/** Counts the charges of any kind that the host has received. */
export function chargesAt({ bank }: World): number {
  const isCharge = ({ mti, direction }: { readonly mti: string; readonly direction: string }) =>
    direction === "received" && /^[01][12]00$/.test(mti);
  return bank.messages().filter(isCharge).length;
}

type HeldCount = { readonly secrets: number; readonly keys: number };

/**
 * Counts the pending card data of a world in which nothing else is pending, because it is not
 * shared.
 */
export async function countPending({ readRows }: World): Promise<HeldCount> {
  const [row] = await readRows<HeldCount>(
    `select (select count(*)::int from held_secrets) as secrets,
       (select count(*)::int from held_keys) as keys`,
  );
  return row ?? { secrets: -1, keys: -1 };
}

/** Waits until no card data is pending, because it is destroyed after the reply. */
export async function untilNothingHeld(world: World): Promise<void> {
  await until("no card data is pending", async () => {
    const { secrets, keys } = await countPending(world);
    return secrets + keys === 0 ? true : undefined;
  });
}
