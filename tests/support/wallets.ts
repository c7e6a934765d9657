/**
 * A world in which customers pay with wallets. It has the keys of wallets, which the bank knows.
 */

import assert from "node:assert/strict";
import { createPrivateKey, type KeyObject, randomBytes, randomUUID } from "node:crypto";
import type { StatusReply } from "@tollgate/client";
import { openVault } from "@tollgate/gateway/administration";
import { preparePageWallets, prepareWallets } from "@tollgate/gateway/demonstration";
import type { WalletAOptions, WalletBOptions } from "@tollgate/sandbox-bank";
import { ascii, binary } from "../../sandbox-bank/acquirer-host/dialects.ts";
import type { Test } from "./clean-up.ts";
import type { Acknowledged, SaleFields } from "./merchant.ts";
import { plainCard } from "./merchant.ts";
import { joinWorld } from "./shared-world.ts";
import { startWorld, type World } from "./world.ts";

export const walletKinds = [
  "walleta_encrypted",
  "walleta_decrypted",
  "walletb_encrypted",
  "walletb_decrypted",
] as const;
export type WalletKind = (typeof walletKinds)[number];

export async function withWallets(world: World): Promise<World> {
  await prepareWallets(world.installation, world.set.login, world.bank.url);
  await world.restart();
  return world;
}

/** Adds walleta's button to payment pages. The restart changes the gateway's address. */
export async function withPageWallets(world: World): Promise<World> {
  const { installation, set, bank } = world;
  const prepare = () =>
    preparePageWallets(installation, set.login, { baseUrl: world.gateway.url, sandbox: bank });
  await prepare();
  await withWallets(world);
  await prepare();
  return world;
}

export async function startWalletWorld(t: Test, settings: Readonly<Record<string, string>> = {}) {
  return startWorld(t, settings, {
    prepare: ({ installation, set, bank }) => prepareWallets(installation, set.login, bank.url),
  });
}

export function joinWalletWorld(t: Test) {
  return joinWorld(t, {}, withWallets);
}

/** Encodes a wallet's token as a merchant sends it. */
export function packed(token: string): string {
  return Buffer.from(token).toString("base64");
}

/** The properties of a payment with either wallet. */
export type Paying = {
  readonly pan?: string;
  readonly eci?: string;
  readonly amount?: number;
  readonly currency?: string;
  readonly year?: number;
  /**
   * For walletb: whether the token has the number of the card itself instead of the device number.
   */
  readonly isPanOnly?: boolean;
};

/** Makes payment data of either wallet, encrypted or decrypted by the merchant. */
export function textOf(world: World, kind: WalletKind, paying: Paying = {}): Promise<string> {
  if (kind === "walleta_encrypted") return mintA(world, paying);
  if (kind === "walletb_encrypted") return mintB(world, paying);
  return Promise.resolve(JSON.stringify(payloadOf(world, kind, paying)));
}

/**
 * Makes payment data of walleta at the gateway's time, which differs from the bank's: a restart
 * takes long by the test's clock.
 */
export function mintA(
  world: World,
  { pan = plainCard, eci, amount = 1015, currency = "USD", year = 2031 }: Paying = {},
  more: Partial<WalletAOptions> = {},
): Promise<string> {
  const proof = eci === undefined ? {} : { eciIndicator: eci };
  const card = { pan, expirationYear: year, expirationMonth: 12 };
  const signingTime = catchUp(world);
  return world.bank.mintWalletA({ ...card, amount, currency, signingTime, ...proof, ...more });
}

export function mintB(
  world: World,
  { pan = plainCard, eci, year = 2031, isPanOnly = false }: Paying = {},
  more: Partial<WalletBOptions> = {},
): Promise<string> {
  const authMethod = isPanOnly ? "PAN_ONLY" : "CRYPTOGRAM_3DS";
  const proof = eci === undefined ? {} : { eciIndicator: eci };
  const card = { pan, expirationYear: year, expirationMonth: 12, authMethod } as const;
  const messageExpiration = catchUp(world) + 3_600_000;
  return world.bank.mintWalletB({ ...card, messageExpiration, ...proof, ...more });
}

/**
 * Moves the test's clock to the present if it is behind, because what has expired at the bank must
 * also have expired here.
 */
function catchUp({ clock }: World): number {
  clock.advance(Math.max(0, Date.now() - clock.now()));
  return clock.now();
}

/** Returns the payload of a merchant that decrypts tokens itself. */
export function payloadOf(world: World, kind: WalletKind, paying: Paying = {}): object {
  const { pan = plainCard, eci = "5", amount = 1015, currency = "840", year = 2031 } = paying;
  const cryptogram = randomBytes(20).toString("base64");
  if (kind.startsWith("walleta")) {
    return {
      applicationPrimaryAccountNumber: pan,
      applicationExpirationDate: `${String(year).slice(-2)}1231`,
      currencyCode: currency,
      transactionAmount: amount,
      deviceManufacturerIdentifier: "050110030273",
      paymentDataType: "3DSecure",
      paymentData: { onlinePaymentCryptogram: cryptogram, eciIndicator: eci },
    };
  }
  const proof = paying.isPanOnly
    ? { authMethod: "PAN_ONLY" }
    : { authMethod: "CRYPTOGRAM_3DS", cryptogram, eciIndicator: eci };
  return {
    messageExpiration: String(world.clock.now() + 3_600_000),
    messageId: randomUUID(),
    paymentMethod: "CARD",
    paymentMethodDetails: { expirationYear: year, expirationMonth: 12, pan, ...proof },
  };
}

/** Returns fields that replace the card of a sale by payment data. */
export function walletFields(kind: string, text: string): SaleFields {
  return {
    credit_card_number: undefined,
    card_printed_name: undefined,
    expire_month: undefined,
    expire_year: undefined,
    cvv2: undefined,
    payment_data: packed(text),
    payment_data_type: kind,
  };
}

type How = {
  readonly through?: string;
  readonly kind?: "sale" | "preauth";
  readonly fields?: SaleFields;
};

/** Pays and returns the acknowledgement, without waiting for what follows. */
export function pay(
  world: World,
  kind: WalletKind,
  text: string,
  { through = "plain", kind: operation = "sale", fields = {} }: How = {},
): Promise<Acknowledged> {
  const merchant = world.merchant(through);
  return merchant[operation]({ ...walletFields(kind, text), ...fields });
}

/** Pays and returns the status after all that follows is done. */
export async function paid(
  world: World,
  kind: WalletKind,
  text: string,
  how: How = {},
): Promise<StatusReply> {
  const order = await pay(world, kind, text, how);
  await world.settle();
  return world.merchant(how.through).status(order);
}

/**
 * Asserts that the payment was acknowledged and then declined for its payment data, without any
 * data of a card.
 */
export function assertWalletRefused(status: StatusReply, code: number, about: string): void {
  assert.equal(status.type, "status-response", about);
  assert.deepEqual(
    [status.status, status["error-code"], status["order-stage"]],
    ["declined", String(code), "sale_declined"],
    `${about}: ${status["error-message"]}`,
  );
  const told = Object.keys(status).filter((name) => cardFields.has(name));
  assert.deepEqual(told, [], about);
}

const cardFields: ReadonlySet<string> = new Set([
  ...["card-exp-month", "card-exp-year", "last-four-digits", "bin", "card-type", "card-hash-id"],
  ...["bank-name", "name", "cardholder-name", "card-country-alpha-three-code", "eci"],
  ...["processor-rrn", "processor-tx-id", "approval-code", "verified-3d-status", "receipt-id"],
]);

/** Returns the charge that the host has received, on either dialect. */
export async function chargeAtHost({ bank }: World, status: StatusReply) {
  const reference = status["processor-rrn"] ?? "";
  const first = bank.messages(reference).find(({ direction }) => direction === "received");
  assert.ok(first !== undefined, "the host has received nothing");
  const { fields } = await bank.waitForMessage({ mti: first.mti, reference });
  const proof = (fields[48] === undefined ? binary : ascii).readProof(fields);
  assert.ok(proof !== undefined, "the proof cannot be read");
  return { mti: first.mti, fields, ...proof };
}

/** Reads the merchants' private keys, which only the vault can decrypt. */
export async function privateKeysIn({ installation }: World): Promise<readonly KeyObject[]> {
  const { openSecret } = await openVault(installation);
  const rows = await installation.database.query<{ context: string; sealed: Buffer }>(
    `select concat_ws('/', 'wallet-key', merchant_id, wallet) as context, sealed
     from vault.wallet_keys where removed_at is null`,
  );
  return rows.map(({ sealed, context }) => createPrivateKey(openSecret(sealed, context).reveal()));
}
