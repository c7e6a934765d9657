/**
 * `gw card import` registers the cards of a file that another gateway has encrypted to this
 * installation. The file is never written in clear text. A report beside it says what became of
 * each line.
 */
import { randomBytes } from "node:crypto";
import { open, rename, rm } from "node:fs/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { option, required, word } from "../administration/field.ts";
import { findEndpoint } from "../administration/find.ts";
import { readConfiguration } from "../administration/session.ts";
import { openCardFile } from "../backup/card-files.ts";
import { makeProfiles } from "../engine/profiles.ts";
import { makeKeepRules } from "../engine/retention.ts";
import { openIssuers } from "../issuers/issuers.ts";
import {
  type BroughtLine,
  makeRegisterCard,
  readBroughtCards,
  reportHead,
  unread,
  writeResult,
} from "../merchant-api/brought-cards.ts";
import type { Endpoint } from "../orders/merchant.ts";
import { makeAuditProfiles } from "../storage/cards/profiles.ts";
import { makeCvvKeyStore, makeKeyStore } from "../storage/cards/vault-keys.ts";
import {
  routeFindSealedCard,
  routeProfiles,
  routeReferences,
} from "../storage/cells/routed-stores.ts";
import { makeIssuerStore } from "../storage/configuration/issuer-ranges.ts";
import { Failure } from "../values/failure.ts";
import { messageOf, Problem } from "../values/problem.ts";
import { type Keys, newCardId, newCardRefId, openKeys } from "../vault/keys.ts";
import { makeRequestDigests } from "../vault/request-digests.ts";
import { makeVault } from "../vault/vault.ts";
import { installed, type MachineSession } from "./machine-command.ts";

/** Simultaneous registrations: enough to fill one batch while the next one is prepared. */
const atOnce = 1_000;
/** The import ends if the database is unavailable for longer, for example in a failover. */
const retryMs = 60_000;

export const cardImportCommands = [
  installed("record", "change_merchants", {
    name: "card import",
    does: ["register the cards of another gateway's file; run it again to continue"],
    showsProgress: true,
    fields: {
      file: word("file", "file", ["CSV, encrypted with age to the key of gw key recipient"]),
      endpoint: required("endpoint", "id", ["the merchant's endpoint, which has their currency"]),
      report: option("path", "file", ["where the result of each line is written"]),
    },
    async perform(session, { file, endpoint: id, report }) {
      const place = report ?? `${file.name}.${id}.report.csv`;
      if (place === file.name) return new Problem("The report needs a file of its own.");
      const endpoint = findEndpoint(await readConfiguration(session), id);
      if (endpoint instanceof Problem) return endpoint;
      const keys = await openKeys(session.masterKey, makeKeyStore(session.database.query));
      const encrypted = Readable.from(file.open(), { objectMode: false });
      const own = keys.list("transfers").map(({ key }) => key);
      const plain = await openCardFile(own, encrypted);
      if (plain instanceof Problem) return plain;
      const register = await openRegister(session, keys, endpoint);
      const done = { lines: 0, registered: 0, ended: "at the end" };
      const progress = session.progress("lines");
      const results = importLines(readBroughtCards(plain), register, done, progress);
      // The temporary file's name is unique, so that simultaneous imports do not mix their reports.
      const partial = `${place}.${randomBytes(4).toString("hex")}.partial`;
      try {
        const report = await open(partial, "wx", 0o600);
        await pipeline(results, report.createWriteStream());
        await rename(partial, place);
      } catch (error) {
        await rm(partial, { force: true });
        return new Problem(`The report ${place} cannot be written: ${messageOf(error)}.`);
      }
      const isWhole = done.ended === "at the end" && done.lines > 0;
      if (!isWhole || done.registered < done.lines) session.findings.note();
      return { ...done, report: place };
    },
  }),
];

async function openRegister(
  { config, database, cells, auditAs, now }: MachineSession,
  keys: Keys,
  endpoint: Endpoint,
) {
  const receivedAt = await now();
  const clock = { now: () => receivedAt };
  const vault = makeVault(keys, routeFindSealedCard(cells));
  const { confirmKeys } = vault;
  const onError = () => undefined;
  const issuers = await openIssuers({ store: makeIssuerStore(database), builtIn: [], onError });
  const profiles = makeProfiles({
    ...makeKeepRules(config, () => [endpoint.merchant]),
    vault,
    findIssuer: issuers.find,
    store: { ...routeReferences(cells), ...routeProfiles(cells, { confirmKeys, retryMs }) },
    digests: makeRequestDigests({ keys, store: makeCvvKeyStore(database.query), clock }),
    // The many card numbers of an operator's file do not count as guesses.
    isGuess: async () => false,
    newReferenceId: newCardRefId,
    newCardId,
    audit: makeAuditProfiles(auditAs),
    clock,
  });
  return makeRegisterCard(endpoint, profiles, receivedAt);
}

/** Registers several cards at once, and yields the report in the order of the file. */
async function* importLines(
  lines: AsyncIterable<BroughtLine>,
  register: ReturnType<typeof makeRegisterCard>,
  done: { lines: number; registered: number; ended: string },
  progress: (count: number) => void,
): AsyncGenerator<string> {
  const underWay: ReturnType<typeof answer>[] = [];
  let [reached, stopped] = [1, undefined as string | undefined];
  yield reportHead;
  try {
    for await (const each of lines) {
      if ("why" in each && each.lacks === "rest") stopped ??= each.why;
      if (stopped !== undefined) break;
      underWay.push(answer(each));
      if (underWay.length >= atOnce) yield await finishNext();
    }
  } catch (error) {
    stopped ??= `the file was cut or changed (${messageOf(error)})`;
  }
  while (underWay.length > 0) yield await finishNext();
  if (stopped === undefined) return;
  done.ended = `after line ${reached}: ${stopped}`;
  const why = `this and what follows was not imported: ${stopped}`;
  yield writeResult(unread({ line: reached + 1, why }));

  async function answer(each: BroughtLine) {
    try {
      return await register(each);
    } catch (error) {
      stopped ??= messageOf(error);
      return unread({ ...each, why: "it may not be registered: import the file again" });
    }
  }

  async function finishNext(): Promise<string> {
    const result = await underWay.shift();
    if (result === undefined) return "";
    reached = result.line;
    progress(++done.lines);
    if (!(result.answer instanceof Failure)) done.registered += 1;
    return writeResult(result);
  }
}
