/**
 * The allow and block lists of screening. A card is named by a reference, its hash id, an order, or
 * by its number on standard input. Only a digest of the number is stored.
 */
import { createHash } from "node:crypto";
import {
  listColumns,
  looksLikeCardNumber,
  readListFile,
  readReason,
} from "../../screening/list-file.ts";
import {
  findKind,
  type ListKind,
  type ListScope,
  listKinds,
  listNames,
} from "../../screening/lists.ts";
import {
  findListEntries,
  type NewListEntry,
  putEntries,
  removeEntries,
} from "../../storage/screening/screening-lists.ts";
import { readDatabaseTime } from "../../storage/server/database-clock.ts";
import { isNumericId } from "../../values/ids.ts";
import { Problem } from "../../values/problem.ts";
import { asInstant, calendar } from "../../values/time.ts";
import { type Action, action } from "../action.ts";
import {
  type Content,
  flag,
  lastWord,
  lastWords,
  onlyOnCommandLine,
  option,
  word,
} from "../field.ts";
import { findLimitFault, limit, loginsOf } from "../find.ts";
import { ends, readMoment, refuseFaults } from "../readers.ts";
import { openVault, Rows, readConfiguration, type Session } from "../session.ts";
import { cardValueOf, readCardNumber, resolveCard } from "./list-card.ts";
import { makeScopeOf, nameScopes, readScope, scopeFields } from "./screening-rule.ts";

const kindNames = listKinds.map(({ name }) => name);
const meanings = listKinds.map(({ name, meaning }) => `${name}: ${meaning}`).join("; ");
const right = "change_merchants";
/** A node has too little memory for a whole list, so the portal shows lists in pages. */
const pageMax = 1_000;
const expired = flag(["only those that have expired", "nur abgelaufene"]);

export const listActions: readonly Action[] = [
  action("change", right, {
    name: "list add",
    does: [
      `put a value on the allow or the block list, with the reason. Kinds: ${meanings}`,
      `einen Wert mit dem Grund auf eine der Listen setzen. Arten: ${kindNames.join(", ")}`,
    ],
    fields: {
      list: word(listNames, "list", ["allow or block", "allow (erlauben) oder block (sperren)"]),
      kind: word(kindNames, "kind", ["the kind of the value", "die Art des Werts"]),
      value: lastWord("text", "value", ["the value", "der Wert"]),
      number: onlyOnCommandLine(option("secret", "", ["the card's number"])),
      order: option("text", "orderid", [
        "the card of this order, in place of a value",
        "die Karte dieser Zahlung, anstelle eines Werts",
      ]),
      ...scopeFields,
      expires: ends,
    },
    async perform(session, given) {
      const { list, kind } = given;
      const scope = readScope(await readConfiguration(session), given);
      if (scope instanceof Problem) return scope;
      const value = await readValue(session, kind, { ...given, scope });
      if (value instanceof Problem) return value;
      const expiresAt = await readExpiry(session, given.expires);
      if (expiresAt instanceof Problem) return expiresAt;
      const reason = readReason(session.reason ?? "");
      if (reason instanceof Problem) return new Problem(`The reason is ${reason.sentence}.`);
      const entry = { list, kind, value, reason, ...scope, ...(expiresAt && { expiresAt }) };
      const id = await session.audit.change(async (query, write) => {
        const { ids } = await putEntries(query, [entry], { by: session.actor.who });
        const [added] = ids;
        if (added === undefined) return undefined;
        // The reason is left out of the values, because the audit entry has its own field for it.
        const { reason: _, ...after } = maskEntry(entry);
        await write({ action: "list add", subject: `list entry ${added}`, after });
        return added;
      });
      return { entry: id ?? "as it was", list, kind, value };
    },
  }),
  action("look", "see_orders", {
    name: "list show",
    does: ["show the entries", "die Einträge zeigen"],
    fields: {
      list: option(listNames, "name", [
        "only of this list: allow or block",
        "nur aus dieser Liste: allow oder block",
      ]),
      kind: option(kindNames, "kind", ["only of this kind", "nur von dieser Art"]),
      value: option("text", "value", [
        "only this value, with kind",
        "nur dieser Wert, zusammen mit der Art",
      ]),
      ...scopeFields,
      expired,
      limit,
      before: option("text", "entry", [
        "only those with a smaller number than this one",
        "nur solche mit einer kleineren Nummer als dieser",
      ]),
    },
    async perform(session, { value, limit: most, before, expired: isExpired, ...given }) {
      const { list } = given;
      const kind = given.kind === undefined ? undefined : findKind(given.kind);
      if (value !== undefined && kind === undefined) return new Problem("value needs kind.");
      const wanted = value === undefined ? undefined : kind?.read(value);
      if (wanted instanceof Problem) return new Problem(`value is ${wanted.sentence}.`);
      const fault = findLimitFault(most);
      if (fault !== undefined) return fault;
      if (session.user !== undefined && Number(most) > pageMax) {
        return new Problem(`limit is a number from 1 to ${pageMax} in the portal.`).about("limit");
      }
      if (before !== undefined && !isNumericId(before)) return new Problem(numbersOnly);
      const configuration = await readConfiguration(session);
      const scope = readScope(configuration, given);
      if (scope instanceof Problem) return scope;
      const { query } = session.database;
      const filter = {
        list,
        kind: kind?.name,
        value: wanted,
        scope,
        before,
        ...(isExpired && { expiredAt: await session.now() }),
      };
      const entries = await findListEntries(query, filter, Number(most));
      const nameScope = nameScopes(configuration);
      return entries.map((entry) => ({
        entry: entry.id,
        list: entry.list,
        kind: entry.kind,
        value: entry.value,
        counts: nameScope(entry),
        expires: entry.expiresAt === undefined ? "" : session.printDate(entry.expiresAt),
        reason: entry.reason,
        "added by": entry.addedBy,
        "added at": `${entry.addedAt} UTC`,
      }));
    },
  }),
  action("change", right, {
    name: "list remove",
    does: [
      "remove entries by their numbers, or all expired ones",
      "Einträge nach ihren Nummern entfernen oder alle abgelaufenen",
    ],
    fields: {
      entries: lastWords("text", "entries", [
        "the numbers of the entries",
        "die Nummern der Einträge",
      ]),
      expired,
    },
    async perform(session, { entries: ids, expired: onlyExpired }) {
      const isExpired = onlyExpired === true;
      if (isExpired === ids.length > 0) return new Problem("Give numbers of entries or expired.");
      const unknown = ids.find((id) => !isNumericId(id));
      if (unknown !== undefined) return new Problem(numbersOnly);
      return session.audit.change(async (query, write) => {
        const now = await readDatabaseTime(query);
        const filter = isExpired ? { expiredAt: asInstant(now) } : { ids };
        const wanted = (await findListEntries(query, filter)).map(({ id }) => id);
        if (!isExpired && wanted.length < new Set(ids).size) {
          return new Problem("There is no such entry: none was removed.");
        }
        const gone = await removeEntries(query, wanted);
        for (const { id, addedAt: _, ...entry } of isExpired ? [] : gone) {
          await write({
            action: "list remove",
            subject: `list entry ${id}`,
            before: maskEntry(entry),
          });
        }
        if (isExpired && gone.length > 0) {
          const after = { removed: gone.length };
          await write({ action: "list remove", subject: "expired list entries", after });
        }
        return { removed: gone.length };
      });
    },
  }),
  action("change", right, {
    name: "list import",
    does: [
      "add all entries of a file, or - for standard input; a file with any fault changes nothing",
      "alle Einträge einer Datei hinzufügen; eine Datei mit einem Fehler ändert nichts",
    ],
    showsProgress: true,
    fields: { file: word("file", "file.csv", ["the entries, as CSV", "die Einträge, als CSV"]) },
    async perform(session, { file: { name, open } }) {
      const configuration = await readConfiguration(session);
      const now = await session.now();
      const vault = await openVault(session);
      const digest = createHash("sha256");
      const cards = await findListEntries(session.database.query, { kind: "card" });
      const known = new Set(cards.map(({ value }) => value));
      const entries = await readListFile(hashing(open(), digest), {
        scopeOf: makeScopeOf(configuration),
        readExpiry: (text) => trimmed(readMoment(text, now)),
        report: session.progress("lines read"),
        isKnownCard: (value) => known.has(value),
        ...(name === "-" && {
          cardValueOf: (number, { merchantId }) => cardValueOf(vault, number, merchantId),
        }),
      }).catch(refuseFaults("Nothing was changed."));
      if (entries instanceof Problem) return entries;
      const sha256 = digest.digest("hex");
      return session.audit.change(async (query, write) => {
        const options = { by: session.actor.who, report: session.progress("entries written") };
        const { added, changed } = await putEntries(query, entries, options);
        const counts = { added, changed, unchanged: entries.length - added - changed };
        await write({ action: "list import", subject: name, after: { ...counts, sha256 } });
        return { file: name, ...counts };
      });
    },
  }),
  action("look", "see_orders", {
    name: "list export",
    does: ["write the entries that have not expired, as the CSV that list import reads"],
    commandLineOnly: "the portal shows the entries in pages",
    async perform(session) {
      const { endpoints, merchants } = await readConfiguration(session);
      const now = await session.now();
      const entries = (await findListEntries(session.database.query, {})).filter(
        ({ expiresAt }) => expiresAt === undefined || expiresAt > now,
      );
      const logins = loginsOf({ merchants });
      // The entries identify persons, so the audit records who has exported them.
      const after = { entries: entries.length };
      await session.audit.write({ action: "list export", subject: "lists", after });
      return new Rows(rows(), listColumns);

      async function* rows() {
        for (const { list, kind, value, merchantId, endpointId, expiresAt, reason } of entries) {
          const owner = merchantId ?? (endpointId && endpoints.get(endpointId)?.merchant.id);
          yield {
            list,
            kind,
            value,
            merchant: (owner && logins.get(owner)) ?? "",
            endpoint: endpointId ?? "",
            expires: expiresAt === undefined ? "" : calendar(expiresAt).iso,
            reason,
          };
        }
      }
    },
  }),
];

type ValueGiven = {
  /** `-` means that a card number follows on standard input. */
  readonly value?: string | undefined;
  readonly number?: Content | undefined;
  readonly order?: string | undefined;
  readonly scope: ListScope;
};

async function readValue(
  session: Session,
  kind: ListKind,
  { value: text, number: input, order, scope }: ValueGiven,
): Promise<string | Problem> {
  if (kind !== "card" && order !== undefined) return new Problem("order names a card.");
  if ((text === undefined) === (order === undefined)) {
    return new Problem(kind === "card" ? "Give a value or an order." : "Give a value.");
  }
  if (text !== undefined && text !== "-" && looksLikeCardNumber(text)) {
    return new Problem(
      "This may be a card number, which must not be on a command line: remove it from the " +
        "shell's history. Give the number on standard input, with - as the value, or an order " +
        "of the card.",
    );
  }
  if (kind === "card") {
    const number = text === "-" ? await readCardNumber(input) : undefined;
    if (number instanceof Problem) return number;
    return resolveCard(session, scope, number ?? { text, order });
  }
  const value = findKind(kind)?.read(text ?? "");
  return value instanceof Problem || value === undefined
    ? new Problem(`The value is ${value?.sentence}.`)
    : value;
}

async function readExpiry({ now }: Session, text: string | undefined) {
  return text === undefined ? undefined : readMoment(text, await now());
}

function maskEntry({ value, ...entry }: NewListEntry) {
  return { ...entry, value: findKind(entry.kind)?.mask(value) ?? "" };
}

const numbersOnly = "An entry's number has digits only.";

/** Replaces the problem of an invalid expiry by a phrase that fits into a sentence about a line. */
function trimmed<Value>(value: Value | Problem): Value | Problem {
  return value instanceof Problem
    ? new Problem("not a later moment like 2030-01-31T09:30:00Z, and not like 12h or 30d")
    : value;
}

async function* hashing(
  chunks: AsyncIterable<Uint8Array>,
  digest: ReturnType<typeof createHash>,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    const bytes = Buffer.from(chunk);
    digest.update(bytes);
    yield bytes;
  }
}
