/** `gw card`: what is known of a registered card, and taking its references away. */

import type { CardReference } from "../orders/card-reference.ts";
import { makeReferenceStore } from "../storage/card-references.ts";
import { asCardRefId, isNumericId } from "../values/ids.ts";
import { Problem } from "../values/problem.ts";
import { makePrintDate, systemClock } from "../values/time.ts";
import { type Configured, inConfigured } from "./configured.ts";
import { complain } from "./installation.ts";
import { print } from "./print.ts";

type Options = { readonly json?: boolean };

export function showCard(login: string, id: string, { json = false }: Options): Promise<void> {
  return inConfigured(async (configured) => {
    const reference = await findReference(configured, login, id);
    if (reference instanceof Problem) return complain(reference);
    const printDate = makePrintDate(configured.config.zone);
    const { card, purpose, orderId, createdAt, removedAt } = reference;
    print(
      {
        reference: id,
        purpose,
        card: `${card.bin}****${card.lastFour}`,
        expires: `${card.expiryMonth}/${card.expiryYear}`,
        "first payment": orderId,
        registered: printDate(createdAt),
        removed: removedAt === undefined ? "no" : printDate(removedAt),
      },
      json,
    );
  });
}

/** All ids of the registration end together: they lead to the same card. */
export function removeCard(login: string, id: string, { json = false }: Options): Promise<void> {
  return inConfigured(async (configured) => {
    const reference = await findReference(configured, login, id);
    if (reference instanceof Problem) return complain(reference);
    const { merchantId, card } = reference;
    const isRemoved = await storeOf(configured).remove(merchantId, card.cardId, systemClock.now());
    if (!isRemoved) return complain(new Problem(`The reference ${id} is removed already.`));
    print({ reference: id, removed: "yes" }, json);
  });
}

async function findReference(
  configured: Configured,
  login: string,
  id: string,
): Promise<CardReference | Problem> {
  const merchant = configured.configuration.merchants.find((each) => each.login === login);
  if (merchant === undefined) return new Problem(`There is no merchant ${login}.`);
  const reference = isNumericId(id)
    ? await storeOf(configured).find(merchant.id, asCardRefId(id))
    : undefined;
  return reference ?? new Problem(`The merchant ${login} has no card reference ${id}.`);
}

function storeOf({ database }: Configured) {
  return makeReferenceStore(database.query, { batchMax: 1, inFlightMax: 1 });
}
