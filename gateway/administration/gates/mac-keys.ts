/**
 * The keys that authenticate a gate's messages. A key is read from standard input, because a
 * command line is visible to other users and is kept in the shell's history.
 */
import {
  macAlgorithmNames,
  readMacKey,
  readZoneKey,
  zoneCiphers,
} from "../../acquirers/iso8583-host/key-exchange.ts";
import { exchangeOverOwnLink, hasKeyExchange } from "../../acquirers/iso8583-host/own-link.ts";
import { makeStoreKey } from "../../storage/cards/delivered-keys.ts";
import { listMacKeys, macKeyContext, zoneKeyContext } from "../../storage/cards/mac-keys.ts";
import { Problem } from "../../values/problem.ts";
import { systemClock } from "../../values/time.ts";
import { type Action, action } from "../action.ts";
import { flag, option, preset, required, word } from "../field.ts";
import { onGate } from "../find.ts";
import { openVault, readContent } from "../session.ts";

const gate = word("gate", "gate", ["the name of the gate", "der Name des Gates"]);
const key = required("secret", "", ["the key, in hex", "der Schlüssel, hexadezimal"]);
const options = {
  algorithm: preset(macAlgorithmNames, "word", "retail", [
    "how codes are made",
    "wie Codes gebildet werden",
  ]),
  bytes: preset(["4", "8"], "count", "8", [
    "how many bytes of the code are sent",
    "wie viele Bytes des Codes gesendet werden",
  ]),
};

export const macKeyActions: readonly Action[] = [
  action("change", "manage_keys", {
    name: "gate mac-key set",
    does: [
      "add the key on standard input, in hex: the gateway signs with it from now on",
      "einen Schlüssel hinzufügen: das Gateway signiert ab jetzt mit ihm",
    ],
    inFile: "beside",
    fields: { gate, key, ...options },
    perform: onGate(async ({ id: gateId, name, macKeys = [] }, session, given) => {
      if (macKeys.filter(({ verifiesUntil }) => verifiesUntil === undefined).length >= 2) {
        return new Problem(`The gate ${name} has two keys: drop the older one first.`);
      }
      const { algorithm } = given;
      const read = readMacKey(await readContent(given.key), algorithm);
      if (read instanceof Problem) return read;
      const { sealSecret } = await openVault(session);
      const sealed = sealSecret(read.key, macKeyContext(gateId));
      const made = { algorithm, bytes: Number(given.bytes), checkValue: read.checkValue };
      const id = await session.administration.addMacKey(gateId, { ...made, sealed });
      return { gate: name, id, ...made };
    }),
  }),
  action("look", "see_configuration", {
    name: "gate mac-key list",
    does: [
      "list a gate's keys by their check values",
      "die Schlüssel eines Gates mit ihren Prüfwerten auflisten",
    ],
    fields: { gate },
    perform: onGate(async ({ id }, { database }) => {
      const keys = await listMacKeys(database.query, id);
      return keys.map((each, index) => ({ ...each, writes: index === 0 }));
    }),
  }),
  action("change", "manage_keys", {
    name: "gate mac-key drop",
    does: [
      "destroy a key: codes made with it are no longer accepted",
      "einen Schlüssel vernichten: mit ihm gebildete Codes werden nicht mehr angenommen",
    ],
    fields: {
      gate,
      id: word("text", "id", ["the number of the key", "die Nummer des Schlüssels"]),
      turnOff: flag([
        "also the last key: messages are no longer authenticated",
        "auch den letzten Schlüssel: Nachrichten werden nicht mehr authentisiert",
      ]),
    },
    perform: onGate(async ({ name, macKeys = [] }, { administration }, { id, turnOff }) => {
      if (!macKeys.some((each) => each.id === id)) {
        return new Problem(`The gate ${name} has no key ${id}.`);
      }
      const left = macKeys.length - 1;
      if (left === 0 && !turnOff) {
        return new Problem(
          `Without its last key the gate ${name} has no codes, and believes every answer. ` +
            "If the acquirer wants that, drop it with turn-off.",
        );
      }
      await administration.dropMacKey(id);
      return { gate: name, dropped: id, keys: left, authenticated: left > 0 };
    }),
  }),
  action("change", "manage_keys", {
    name: "gate mac-key zone",
    does: [
      "set the zone key on standard input, in hex: the host delivers keys under it",
      "den Zonenschlüssel setzen: der Host liefert Schlüssel unter ihm",
    ],
    fields: {
      gate,
      key,
      cipher: preset(zoneCiphers, "word", "tdes", [
        "what the zone key is for",
        "wofür der Zonenschlüssel ist",
      ]),
      ...options,
      every: option("whole", "hours", [
        "how often the host is asked for the next key, in hours (default: never)",
        "wie oft der Host um den nächsten Schlüssel gebeten wird, in Stunden (üblich: nie)",
      ]),
    },
    perform: onGate(async (known, session, { cipher, algorithm, every, ...given }) => {
      if (!hasKeyExchange(known.kind)) {
        return new Problem(`The dialect ${known.kind} has no message for keys.`);
      }
      if (algorithm === "cmac" && cipher === "tdes") {
        return new Problem("A key for cmac is AES: it is delivered under a zone key for AES only.");
      }
      if (every !== undefined && !/^[1-9]\d{0,3}$/.test(every)) {
        return new Problem("every is a number of hours, from 1 to 9999.");
      }
      const read = readZoneKey(await readContent(given.key), cipher);
      if (read instanceof Problem) return read;
      const { sealSecret } = await openVault(session);
      const sealed = sealSecret(read.key, zoneKeyContext(known.id));
      const everyS = every === undefined ? null : Number(every) * 3_600;
      const made = { cipher, algorithm, bytes: Number(given.bytes), checkValue: read.checkValue };
      await session.administration.putZoneKey(known.id, { ...made, sealed, everyS });
      return { gate: known.name, ...made, everyHours: every ?? "never" };
    }),
  }),
  action("change", "manage_keys", {
    name: "gate mac-key drop-zone",
    does: [
      "destroy the zone key: no key from the host is accepted any more",
      "den Zonenschlüssel vernichten: kein Schlüssel des Hosts wird mehr angenommen",
    ],
    fields: { gate },
    perform: onGate(async ({ id, name }, { administration }) => {
      if (await administration.dropZoneKey(id)) return { gate: name, zoneKey: "none" };
      return new Problem(`${name} has no zone key.`);
    }),
  }),
  action("change", "manage_keys", {
    name: "gate mac-key exchange",
    does: ["ask the host for the next key now", "den nächsten Schlüssel jetzt anfordern"],
    duration: "minutes",
    fields: { gate },
    // The command connects to the host itself, and notifies running nodes of the new key.
    perform: onGate(async (known, session) => {
      const { id: gateId, name: gate, zoneKey } = known;
      if (zoneKey === undefined) return new Problem(`The gate ${gate} has no zone key.`);
      const { sealSecret } = await openVault(session);
      const { audit, database, config } = session;
      const clock = systemClock;
      const storeKey = makeStoreKey({ audit, sealSecret, clock }, gateId);
      const { answerTimeoutMs } = config;
      const asked = await exchangeOverOwnLink(known, { storeKey, clock, answerTimeoutMs });
      if (asked instanceof Problem) return asked;
      const [newest] = await listMacKeys(database.query, gateId);
      return asked === "asked"
        ? { gate, key: "the host has accepted the request, and delivers the key to a node" }
        : { gate, id: newest?.id, checkValue: newest?.checkValue };
    }),
  }),
];
