/** A merchant's registered cards: show and remove them. */
import { makeReferenceStore } from "../../storage/cards/cards.ts";
import { condemnCards } from "../../storage/cards/retention.ts";
import { routeReferences } from "../../storage/cells/routed-stores.ts";
import { asCardRefId, isNumericId } from "../../values/ids.ts";
import { Problem } from "../../values/problem.ts";
import { type Action, action } from "../action.ts";
import { flag, word } from "../field.ts";
import { findMerchant, login } from "../find.ts";
import { readConfiguration, type Session } from "../session.ts";

const named = {
  login,
  reference: word("text", "reference", ["the reference of the registered card"]),
};

export const cardActions: readonly Action[] = [
  action("look", "see_orders", {
    name: "card show",
    does: ["show a merchant's registered card"],
    commandLineOnly:
      "it answers a question of support about one card reference, which an order shows too",
    fields: named,
    async perform(session, given) {
      const { login: owner, reference: id } = given;
      const reference = await findReference(session, given);
      if (reference instanceof Problem) return reference;
      const subject = `card reference ${id} of ${owner}`;
      await session.audit.write({ action: "card show", subject });
      const { printDate } = session;
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
    },
  }),
  action("change", "erase_data", {
    name: "card remove",
    does: ["remove a card's references: payments with it are refused"],
    commandLineOnly: "it erases what no one can bring back",
    fields: {
      ...named,
      now: flag(["destroy the number at once: no capture and no return any more"]),
    },
    // All references to the card are removed together.
    async perform(session, given) {
      const { login: owner, reference: id } = given;
      const now = given.now === true;
      const reference = await findReference(session, given);
      if (reference instanceof Problem) return reference;
      const { merchantId, card, removedAt } = reference;
      const isGone = new Problem(`The reference ${id} is removed already.`);
      if (removedAt !== undefined && !now) return isGone;
      const store = routeReferences(session.cells);
      const ofMerchant = { merchantId, cardId: card.cardId };
      const at = await session.now();
      // The entry is written first, so that an interrupted command has left its entry.
      const subject = `card reference ${id} of ${owner}`;
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
    },
  }),
];

type Named = { readonly login: string; readonly reference: string };

async function findReference(session: Session, { login, reference: id }: Named) {
  const merchant = findMerchant(await readConfiguration(session), login);
  if (merchant instanceof Problem) return merchant;
  const store = routeReferences(session.cells);
  const reference = isNumericId(id) ? await store.find(merchant.id, asCardRefId(id)) : undefined;
  return reference ?? new Problem(`The merchant ${login} has no card reference ${id}.`);
}
