/**
 * The actions on the keys of the vault. An operator lists the keys, replaces them, or seals the
 * same keys with another key-encryption key. When a key is replaced, everything that the old key
 * seals is sealed again with the new one while payments go on.
 */
import { setTimeout as pause } from "node:timers/promises";
import { recipientOf } from "../../backup/card-files.ts";
import { keySourcesOf, masterKeySource } from "../../config/config.ts";
import {
  listKeys,
  makeKeyStore,
  makeRotationStore,
  rewrapKeys,
  takeRotationLock,
} from "../../storage/cards/vault-keys.ts";
import type { Cells } from "../../storage/cells/cells.ts";
import type { Database } from "../../storage/server/database.ts";
import { Problem } from "../../values/problem.ts";
import { openKeys, rewrapKey } from "../../vault/keys.ts";
import { checkValueOf, readMasterKey } from "../../vault/master-key.ts";
import { rotateKeys } from "../../vault/rotate-keys.ts";
import { type Action, action } from "../action.ts";
import { flag } from "../field.ts";
import { Report, readConfiguration, type Session } from "../session.ts";
import { renewFingerprints } from "./renew-fingerprints.ts";

export const keyActions: readonly Action[] = [
  action("keys", "see_configuration", {
    name: "key recipient",
    does: ["print the public key of age for files of gw card import"],
    commandLineOnly: "files of cards are read on the command line alone",
    async perform({ database, masterKey }) {
      const keys = await openKeys(masterKey, makeKeyStore(database.query));
      return { recipient: await recipientOf(keys.current("transfers").key) };
    },
  }),
  action("keys", "manage_keys", {
    name: "key list",
    does: [
      "list the vault's keys with the number of cards under each",
      "die Schlüssel des Tresors mit der Zahl der Karten unter jedem auflisten",
    ],
    async perform({ database, cells }) {
      const keys = await listKeys(database, allOf(cells));
      const rows = keys.map(({ id, purpose, createdAt, retiredAt, destroyedAt, cards }) => ({
        id,
        purpose,
        made: createdAt,
        retired: retiredAt ?? "-",
        destroyed: destroyedAt ?? "-",
        cards: purpose === "cards" ? cards : "-",
      }));
      return new Report(keys, rows);
    },
  }),
  action("record", "manage_keys", {
    name: "key rotate",
    does: [
      "reseal cards, secrets and pending card data with new keys during operation, destroy the old",
      "Karten, Geheimnisse und wartende Kartendaten im laufenden Betrieb mit neuen Schlüsseln " +
        "verschlüsseln und die alten vernichten",
    ],
    duration: "hours",
    needsSecondPerson: true,
    fields: {
      anew: flag([
        "make new keys even if an earlier rotation was not completed",
        "neue Schlüssel anlegen, auch wenn ein früherer Wechsel nicht fertig wurde",
      ]),
      fingerprints: flag([
        "replace the key of card fingerprints instead, and recompute them from the vault",
        "stattdessen den Schlüssel der Kartenfingerabdrücke ersetzen und sie aus dem Tresor " +
          "neu berechnen",
      ]),
    },
    async perform(session, { anew = false, fingerprints = false }) {
      const { database, cells, masterKey, config, actor, report } = session;
      const lock = await takeRotationLock(database);
      if (lock === undefined) return new Problem("A rotation is under way already.");
      try {
        const deletion = { by: actor.who, at: await session.now() };
        const rotation = {
          keys: await openKeys(masterKey, makeKeyStore(database.query)),
          graceMs: config.keyGraceMs,
          report,
          // The timer does not keep the process running. The next rotation continues an interrupted
          // one.
          pause: (durationMs: number) => pause(durationMs, undefined, { ref: false }),
        };
        if (fingerprints) {
          const { endpoints } = await readConfiguration(session);
          const places = { database, cells: allOf(cells), endpoints: [...endpoints.values()] };
          const renewed = await renewFingerprints({ ...rotation, ...places, deletion });
          warnOf(session, [...unrenewed(renewed.left), ...unread(renewed.unopened)]);
          return new Report(renewed, printRenewed(renewed));
        }
        const { cards, destroyed, kept } = await rotateKeys({
          ...rotation,
          anew,
          keepDigestsMs: config.repeatDays * 86_400_000,
          store: makeRotationStore(database, allOf(cells)),
        });
        warnOf(session, undestroyed(kept));
        const printed = {
          "cards resealed": cards,
          "keys destroyed": destroyed.join(", ") || "none",
        };
        return new Report({ cards, destroyed, kept }, printed);
      } finally {
        await lock.release();
      }
    },
  }),
  action("record", "manage_keys", {
    name: "key rewrap",
    does: ["seal the vault's keys with another key-encryption key (GW_NEW_MASTER_KEY)"],
    needsSecondPerson: true,
    commandLineOnly: "it needs the next key-encryption key, which no browser may have",
    // Seals the keys of the vault with the next key-encryption key. The keys of the vault
    // themselves do not change, so cards and secrets need no new sealing.
    async perform({ config, database, masterKey, report }) {
      if (keySourcesOf(config, "newMasterKey").length === 0) {
        return new Problem(
          "Give the next key-encryption key by GW_NEW_MASTER_KEY_FILE or another of the " +
            "GW_NEW_MASTER_KEY settings.",
        );
      }
      const next = await readMasterKey(masterKeySource(config, "newMasterKey"));
      if (typeof next === "string") return new Problem(next);
      if (checkValueOf(next) === checkValueOf(masterKey)) {
        return new Problem("The next key-encryption key is the present one.");
      }
      const lock = await takeRotationLock(database);
      if (lock === undefined) return new Problem("A rotation is under way: wait until it is done.");
      try {
        const change = { from: masterKey, to: next };
        const keys = await rewrapKeys(database, (key) => rewrapKey(key, change));
        report("Restart every node with the new key-encryption key in the place of the old one.");
        return { keys, "check value": checkValueOf(next) };
      } finally {
        await lock.release();
      }
    },
  }),
];

function warnOf({ warn, findings }: Session, sentences: readonly string[]): void {
  for (const sentence of sentences) warn(sentence);
  if (sentences.length > 0) findings.note();
}

function printRenewed({ cards, orders, destroyed }: Awaited<ReturnType<typeof renewFingerprints>>) {
  const gone = destroyed.join(", ") || "none";
  return { "cards recomputed": cards, "orders looked at": orders, "keys destroyed": gone };
}

function unrenewed(left: readonly string[]): readonly string[] {
  if (left.length === 0) return [];
  return [
    `The old key is kept: the list entries ${left.join(", ")} name cards whose numbers the vault ` +
      "does not have. Remove them, or let them expire, and run the rotation of fingerprints again.",
  ];
}

function unread(unopened: number): readonly string[] {
  if (unopened === 0) return [];
  return [
    `The old key is kept: ${unopened} cards do not open, and have their old fingerprints. ` +
      "Look for damage in the database, then run the rotation of fingerprints again.",
  ];
}

/** The command fails if a cell is unreachable, because its cards may need the old keys. */
function allOf(cells: Cells): readonly Database[] {
  return cells.names().map((name) => cells.databasesOf(name).vault);
}

function undestroyed(kept: readonly number[]): readonly string[] {
  if (kept.length === 0) return [];
  return [
    `The keys ${kept.join(", ")} are kept: something that they seal does not open. ` +
      "Look for damage in the database, then run the rotation again, or with anew for new keys " +
      "all the same.",
  ];
}
