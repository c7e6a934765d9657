/**
 * `gw card export` writes a merchant's registered cards with their numbers, in the columns of `gw
 * card import`, for the gateway that the merchant moves to. The cards leave the process only
 * encrypted to that gateway's key, and a second person must approve the export under every setting.
 */
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { required } from "../administration/field.ts";
import { findMerchant, login } from "../administration/find.ts";
import { openVault, readConfiguration } from "../administration/session.ts";
import { encryptAlone, parseRecipients } from "../backup/archive.ts";
import { isUsable } from "../engine/cards.ts";
import { broughtColumns } from "../merchant-api/brought-cards.ts";
import type { Merchant } from "../orders/merchant.ts";
import { type ListedProfile, listProfiles } from "../storage/cards/profiles.ts";
import type { Configuration } from "../storage/configuration/configuration.ts";
import { writeRecord } from "../values/csv-records.ts";
import type { CardId } from "../values/ids.ts";
import { Problem } from "../values/problem.ts";
import type { StoredCard } from "../vault/vault.ts";
import { installed, type MachineSession } from "./machine-command.ts";

export const cardExportCommands = [
  installed("change", "reveal_secrets", {
    name: "card export",
    does: [
      "write a merchant's registered cards for another gateway, encrypted, to standard output",
    ],
    showsProgress: true,
    needsReason: true,
    needsSecondPerson: () => true,
    fields: {
      login,
      recipient: required("text", "key", ["the other gateway's public key of age"]),
    },
    async perform(session, { login: name, recipient }) {
      const configuration = await readConfiguration(session);
      const merchant = findMerchant(configuration, name);
      if (merchant instanceof Problem) return merchant;
      const encrypter = parseRecipients([recipient]);
      if (encrypter instanceof Problem) return encrypter;
      if (process.stdout.isTTY)
        return new Problem("Redirect the output: it is not for a terminal.");
      if (session.isTrial) return undefined;
      const subject = `merchant ${name}`;
      // The audit entry comes before the work, so that it exists even after an interruption.
      await session.audit.write({ action: "card export", subject, after: { recipient } });
      const counts = { cards: 0, destroyed: 0 };
      const rows = writeCards(session, merchant, configuration.endpoints, counts);
      const encrypted = await encryptAlone(encrypter, Readable.from(rows, { objectMode: false }));
      await pipeline(encrypted, process.stdout, { end: false });
      const after = { recipient, ...counts };
      await session.audit.write({ action: "card export ended", subject, after });
      session.report(`${counts.cards} cards; the numbers of ${counts.destroyed} are destroyed.`);
      return undefined;
    },
  }),
];

async function* writeCards(
  session: MachineSession,
  { id }: Merchant,
  endpoints: Configuration["endpoints"],
  counts: { cards: number; destroyed: number },
): AsyncGenerator<Buffer> {
  const { findCard } = await openVault(session);
  const progress = session.progress("cards");
  const stores = session.cells.stores(({ node }) => node.query);
  yield Buffer.from(writeRecord(broughtColumns));
  let after: CardId | undefined;
  for (;;) {
    const page = await stores.call(id, (query) => listProfiles(query, id, after));
    if (page.length === 0) return;
    after = page.at(-1)?.card.cardId;
    const found = await Promise.all(page.map(({ card }) => findCard(id, card.cardId)));
    const rows = page.flatMap((listed, at) => {
      const stored = found[at];
      if (!isUsable(stored)) return [];
      const values = valuesOf(listed, stored, endpoints.get(listed.endpointId)?.currency);
      return [writeRecord(broughtColumns.map((name) => values[name] ?? ""))];
    });
    counts.cards += rows.length;
    counts.destroyed += page.length - rows.length;
    progress(counts.cards);
    yield Buffer.from(rows.join(""));
  }
}

function valuesOf(
  listed: ListedProfile,
  { number }: StoredCard,
  currency: string | undefined,
): Readonly<Record<string, string | undefined>> {
  const { card, ids, networkId, clientOrderId, profile } = listed;
  const { expiryMonth, expiryYear, holderName } = card;
  const customer = profile?.customer;
  // A card that only received payouts may have no expiry date. It is exported as not chargeable.
  const isSource = ids.recurring !== undefined && expiryMonth !== "";
  const profileId = ids.recurring ?? ids.destination_recurring ?? "";
  return {
    // A card that was registered with a payment has no client order id, so its reference is
    // exported. Letters encode the reference: its nineteen digits could be taken for a card number.
    "client-orderid": clientOrderId ?? `reference-${BigInt(profileId).toString(36)}`,
    "rp-card-type": isSource ? "SRC" : "DST",
    "credit-card-number": number.reveal(),
    "card-printed-name": holderName,
    "expire-month": expiryMonth,
    "expire-year": expiryYear,
    "currency": profile?.currency ?? currency,
    "first-name": customer?.firstName,
    "last-name": customer?.lastName,
    "email": customer?.email,
    "phone": customer?.phone,
    "address1": customer?.address,
    "city": customer?.city,
    "zip-code": customer?.zipCode,
    "country": customer?.country,
    "state": customer?.state,
    "customer-ip": profile?.ipAddress,
    "network-transaction-id": networkId,
    "amount": profile?.amount,
    "order-desc": profile?.description,
    "recurring-payment-id": profileId,
    "card-ref-id": ids.card,
    "dst-card-ref-id": ids.destination,
  };
}
