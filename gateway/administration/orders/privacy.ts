/**
 * Removes registered cards, and erases a person's data on request. The financial data of the orders
 * stays (decision 0040). The user sees the number of orders before anything is erased, and an audit
 * entry records it.
 */
import { tallyRowsOf } from "../../screening/judge.ts";
import { makeReferenceStore } from "../../storage/cards/cards.ts";
import {
  eraseCard,
  eraseOrder,
  findCardsOf,
  findOrdersOf,
  type OrderOfPerson,
  type Person,
  vacuumErased,
} from "../../storage/cards/erasure.ts";
import { restartProfile } from "../../storage/cards/profiles.ts";
import { condemnCards } from "../../storage/cards/retention.ts";
import { hasMoved } from "../../storage/cells/cells.ts";
import { routeReferences } from "../../storage/cells/routed-stores.ts";
import { eraseRefused } from "../../storage/portal/refused-requests.ts";
import { deleteTallies } from "../../storage/screening/tallies.ts";
import type { Database } from "../../storage/server/database.ts";
import type { CardNumber } from "../../values/card-number.ts";
import { foldEmail } from "../../values/email.ts";
import { asCardRefId, isNumericId } from "../../values/ids.ts";
import { Problem } from "../../values/problem.ts";
import { type Instant, systemClock } from "../../values/time.ts";
import { type Action, action } from "../action.ts";
import { flag, type Given, onlyOnCommandLine, option, word } from "../field.ts";
import { findMerchant, login } from "../find.ts";
import { findReferenced, readCardNumber } from "../screening/list-card.ts";
import { type Output, openVault, readConfiguration, type Session } from "../session.ts";

const fields = {
  email: option("text", "address", ["the customer's address"]),
  card: {
    ...option("text", "reference", ["a card reference, or the number on standard input"]),
    alone: "-",
  },
  number: onlyOnCommandLine(option("secret", "", ["the card's number"])),
  yes: flag(["without asking"]),
};

export const privacyActions: readonly Action[] = [
  action("change", "erase_data", {
    name: "privacy erase",
    does: ["erase a person's data from orders, and keep the books"],
    duration: "minutes",
    commandLineOnly: "it erases what no one can bring back",
    fields,
    perform: erase,
  }),
];

type Erased = Given<typeof fields>;

async function erase(session: Session, given: Erased): Promise<Output> {
  const sought = await readPerson(session, given);
  if (sought instanceof Problem) return sought;
  const { person } = sought;
  const found = await findAll(session, person);
  const cards = await findCards(session, person);
  const closed = found.filter(({ order }) => !order.isOpen);
  const counts = { orders: closed.length, open: found.length - closed.length };
  session.report(
    `Found ${found.length} orders of ${new Set(found.map(({ order }) => order.merchantId)).size} ` +
      `merchants; ${counts.open} of them are open and will stay as they are. ` +
      `Found ${cards.length} registered cards.`,
  );
  const isConfirmed =
    closed.length + cards.length === 0 ||
    given.yes === true ||
    (await session.confirm("Erase them? This cannot be undone."));
  if (!isConfirmed) {
    return new Problem("Nothing was erased. Answer the question with yes, or give the option yes.");
  }
  const by = session.actor.who;
  const what = given.email === undefined ? "card" : "email";
  // The audit entry comes before the work, so that it exists even after an interruption.
  const after = { by: what, ...counts, cards: cards.length };
  await session.audit.write({ action: "privacy erase", subject: "a person", after });
  await forgetBesideOrders(session, sought);
  const erased = await eraseAll(closed, cards, by).catch((error) => {
    if (hasMoved(error)) return new Problem("A merchant is moving: run it again after the move.");
    throw error;
  });
  if (erased instanceof Problem) return erased;
  return {
    ...erased,
    open: found.length - erased.orders,
    left: "open orders: run it again later. Log files and backups: until they are deleted",
  };
}

/**
 * The person whose data is to be erased, and the email address or card by which screening counts
 * the person's payments.
 */
type Sought = {
  readonly person: Person;
  readonly subject: readonly [per: "email" | "card", values: readonly string[]];
};

async function readPerson(
  session: Session,
  { email, card, number: content }: Erased,
): Promise<Sought | Problem> {
  if ((email === undefined) === (card === undefined)) {
    return new Problem("Give either email or card.");
  }
  if (email !== undefined) {
    const folded = foldEmail(email);
    // A stored address may have the spelling that the merchant sent, as in refused requests, or its
    // normalised form, so both forms are searched.
    const emails = [...new Set([folded, email.trim().toLowerCase()])];
    return { person: { emails }, subject: ["email", [folded]] };
  }
  const number =
    card === "-" ? await readCardNumber(content) : await findNumber(session, card ?? "");
  if (number instanceof Problem) return number;
  const vault = await openVault(session);
  const { merchants } = await readConfiguration(session);
  const digests = new Set([vault.cardDigest(number)]);
  const hashIds = merchants.flatMap(({ id }) => {
    const names = vault.cardNames(id, number);
    for (const { digest } of names) digests.add(digest);
    const others = names.map(({ hashId }) => [id, hashId] as const);
    return [[id, vault.fingerprint(id, number).hashId] as const, ...others];
  });
  return { person: { hashIds }, subject: ["card", [...digests]] };
}

/**
 * Deletes data about the person outside of orders: the counters of screening, which are stored
 * under keyed digests, and refused requests.
 */
async function forgetBesideOrders(
  session: Session,
  { person, subject: [per, values] }: Sought,
): Promise<void> {
  const { digestSubject } = await openVault(session);
  const { endpoints } = await readConfiguration(session);
  const places = { endpoints: [...endpoints.values()], digestSubject };
  const rows = values.flatMap((value) => tallyRowsOf(per, value, places));
  for (const cell of cellsOf(session)) {
    await deleteTallies(cell.query, rows);
    if ("emails" in person) await eraseRefused(cell.query, person.emails);
  }
}

async function findNumber(session: Session, id: string): Promise<CardNumber | Problem> {
  const known = await findReferenced(session, id);
  const { findCard } = await openVault(session);
  const card = known && (await findCard(known.merchantId, known.cardId));
  const missing = new Problem("There is no such card reference, or its card is destroyed.");
  return card?.number ?? missing;
}

type Found = { readonly cell: Database; readonly order: OrderOfPerson };

async function findAll(session: Session, person: Person): Promise<readonly Found[]> {
  const found: Found[] = [];
  const progress = session.progress("orders looked through");
  let looked = 0;
  for (const cell of cellsOf(session)) {
    const orders = await findOrdersOf(cell, person, (count) => {
      looked += count;
      progress(looked);
    });
    found.push(...orders.map((order) => ({ cell, order })));
  }
  return found;
}

type RegisteredCard = Awaited<ReturnType<typeof findCardsOf>>[number];
type FoundCard = { readonly cell: Database; readonly card: RegisteredCard };

async function findCards(session: Session, person: Person): Promise<readonly FoundCard[]> {
  const found = cellsOf(session).map(async (cell) => {
    const cards = new Map(
      (await findCardsOf(cell, person)).map((card) => [`${card.merchantId}/${card.cardId}`, card]),
    );
    return [...cards.values()].map((card) => ({ cell, card }));
  });
  return (await Promise.all(found)).flat();
}

/**
 * Erases the person's data in orders and in registered cards, and condemns the cards. The nodes
 * destroy a card when no open order needs it.
 */
async function eraseAll(found: readonly Found[], registered: readonly FoundCard[], by: string) {
  let orders = 0;
  const cards = new Set<string>();
  const condemn = async (cell: Database, erased: readonly RegisteredCard[], at: Instant) => {
    for (const card of erased) cards.add(`${card.merchantId}/${card.cardId}`);
    const condemned = erased.map((card) => ({ ...card, why: "erased" as const }));
    await condemnCards(cell.query, condemned, at);
  };
  for (const { cell, order } of found) {
    const at = systemClock.now();
    const erased = await eraseOrder(cell, order, { by: `gw-${by}`, at });
    if (erased === undefined) continue;
    orders += 1;
    await condemn(cell, erased.cards, at);
  }
  for (const { cell, card } of registered) {
    const at = systemClock.now();
    await condemn(cell, await eraseCard(cell, card, at), at);
  }
  const cells = new Set([...found, ...registered].map((each) => each.cell));
  for (const cell of cells) await vacuumErased(cell);
  return { orders, cards: cards.size };
}

/**
 * Returns the databases of all cells. The command opens them with a login that has rights to all
 * tables of a cell.
 */
function cellsOf({ cells }: Session): readonly Database[] {
  return cells.names().map((name) => cells.databasesOf(name).node);
}

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
      const { card, purpose, orderId, createdAt, stoppedAt, removedAt, isDevice } = reference;
      return {
        reference: id,
        purpose,
        card: `${card.bin}****${card.lastFour}`,
        "device number": isDevice === true ? "yes" : "no",
        expires: `${card.expiryMonth}/${card.expiryYear}`,
        "first payment": orderId === "0" ? "none" : orderId,
        registered: printDate(createdAt),
        stopped: stoppedAt === undefined ? "no" : printDate(stoppedAt),
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
      now: flag(["destroy the number at once: no capture, return or void is possible any more"]),
    },
    // A card may have several references. The command removes all of them together.
    async perform(session, given) {
      const { login: owner, reference: id } = given;
      const now = given.now === true;
      const reference = await findReference(session, given);
      if (reference instanceof Problem) return reference;
      const { merchantId, card, removedAt } = reference;
      const isGone = new Problem(`The reference ${id} is removed already.`);
      if (removedAt !== undefined && !now) return isGone;
      const store = routeReferences(session.cells);
      const at = await session.now();
      // The audit entry comes before the work, so that it exists even after an interruption.
      const subject = `card reference ${id} of ${owner}`;
      await session.audit.write({ action: "card remove", subject, after: { now } });
      const removed = await store.remove(reference, "operator", at);
      if (removed === undefined && !now) return isGone;
      if (now) {
        const ofMerchant = { merchantId, cardId: removed ?? card.cardId };
        const stores = session.cells.stores((databases) => databases);
        await stores.call(merchantId, async ({ node, vault }) => {
          await condemnCards(vault.query, [{ ...ofMerchant, why: "removed" }], at);
          await makeReferenceStore(node.query).markDestroyed([ofMerchant], at);
        });
      }
      return { reference: id, removed: "yes", "number destroyed": now ? "at once" : "later" };
    },
  }),
  action("change", "erase_data", {
    name: "card restart",
    does: ["start a stopped recurring payment profile again"],
    commandLineOnly: "only the operator may undo what a customer has asked the merchant for",
    fields: named,
    async perform(session, given) {
      const { login: owner, reference: id } = given;
      const reference = await findReference(session, given);
      if (reference instanceof Problem) return reference;
      const { merchantId, card, stoppedAt, removedAt } = reference;
      const isRunning = new Problem(`The profile ${id} is not stopped, or its card is removed.`);
      if (stoppedAt === undefined || removedAt !== undefined) return isRunning;
      // The audit entry comes before the work, so that it exists even after an interruption.
      await session.audit.write({
        action: "card restart",
        subject: `card reference ${id} of ${owner}`,
      });
      const stores = session.cells.stores(({ node }) => node.query);
      const isDone = await stores.call(merchantId, (query) =>
        restartProfile(query, { merchantId, cardId: card.cardId }),
      );
      return isDone ? { reference: id, started: "yes" } : isRunning;
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
