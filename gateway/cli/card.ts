/** `gw card`: shows and removes a merchant's registered cards. */
import { type Command, Option } from "commander";
import { makeReferenceStore } from "../storage/cards.ts";
import { readDatabaseTime } from "../storage/database-clock.ts";
import { condemnCards } from "../storage/retention.ts";
import { routeReferences } from "../storage/routed-stores.ts";
import { asCardRefId, isNumericId } from "../values/ids.ts";
import { Problem } from "../values/problem.ts";
import { makePrintDate } from "../values/time.ts";
import { addCommands, type Output, type Session } from "./command.ts";
import { readConfiguration } from "./installation.ts";
import { findMerchant } from "./merchant-set.ts";

export function addCardCommands(card: Command): void {
  const now = new Option("--now", "destroy the number at once: no capture and no return any more");
  // biome-ignore format: a table
  addCommands(card, [
    ["show <login> <reference>",   "show a merchant's registered card",                     showCard],
    ["remove <login> <reference>", "remove a card's references: payments with it are refused", removeCard, [now]],
  ]);
}

async function showCard(session: Session, login: string, id: string): Promise<Output> {
  const reference = await findReference(session, login, id);
  if (reference instanceof Problem) return reference;
  const subject = `card reference ${id} of ${login}`;
  await session.audit.write({ action: "card show", subject });
  const printDate = makePrintDate(session.config.zone);
  const { card, purpose, orderId, createdAt, removedAt, isDevice } = reference;
  return {
    reference: id,
    purpose,
    card: `${card.bin}****${card.lastFour}`,
    "device number": isDevice === true ? "yes" : "no",
    expires: `${card.expiryMonth}/${card.expiryYear}`,
    "first payment": orderId,
    registered: printDate(createdAt),
    removed: removedAt === undefined ? "no" : printDate(removedAt),
  };
}

/** All references to the card end together. */
async function removeCard(
  session: Session,
  login: string,
  id: string,
  { now = false }: { readonly now?: boolean },
): Promise<Output> {
  const reference = await findReference(session, login, id);
  if (reference instanceof Problem) return reference;
  const { merchantId, card, removedAt } = reference;
  const isGone = new Problem(`The reference ${id} is removed already.`);
  if (removedAt !== undefined && !now) return isGone;
  const store = routeReferences(session.cells);
  const ofMerchant = { merchantId, cardId: card.cardId };
  const at = await readDatabaseTime(session.database.query);
  // Before it happens: a command that is interrupted has left its entry.
  const subject = `card reference ${id} of ${login}`;
  await session.audit.write({ action: "card remove", subject, after: { now } });
  const isRemoved = await store.remove(ofMerchant, "operator", at);
  if (!isRemoved && !now) return isGone;
  if (now) {
    const stores = session.cells.stores((databases) => databases);
    await stores.call(merchantId, async ({ node, vault }) => {
      await condemnCards(vault.query, [{ ...ofMerchant, why: "removed" }], at);
      await makeReferenceStore(node.query).markDestroyed([ofMerchant], at);
    });
  }
  return { reference: id, removed: "yes", "number destroyed": now ? "at once" : "later" };
}

async function findReference(session: Session, login: string, id: string) {
  const merchant = findMerchant(await readConfiguration(session), login);
  if (merchant instanceof Problem) return merchant;
  const store = routeReferences(session.cells);
  const reference = isNumericId(id) ? await store.find(merchant.id, asCardRefId(id)) : undefined;
  return reference ?? new Problem(`The merchant ${login} has no card reference ${id}.`);
}
