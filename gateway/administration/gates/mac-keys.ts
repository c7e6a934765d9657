/**
 * The keys that a gate's messages are authenticated with. A key is read from standard input,
 * because a command line is visible to other users and kept in histories.
 */
import type { Gate } from "../../acquirers/gates.ts";
import {
  exchangeOverOwnLink,
  hasKeyExchange,
} from "../../acquirers/iso8583-host/exchange-command.ts";
import {
  macAlgorithmNames,
  readMacKey,
  readZoneKey,
  zoneCiphers,
} from "../../acquirers/iso8583-host/message-authentication.ts";
import { makeStoreKey } from "../../storage/cards/delivered-keys.ts";
import { listMacKeys, macKeyContext, zoneKeyContext } from "../../storage/cards/mac-keys.ts";
import { Problem } from "../../values/problem.ts";
import { systemClock } from "../../values/time.ts";
import { type Action, action } from "../action.ts";
import { type Content, flag, option, preset, secret, word } from "../field.ts";
import { onGate } from "../find.ts";
import { readOneOf } from "../readers.ts";
import { type Output, openVault, readContent, type Session } from "../session.ts";

const gate = word("gate", "gate", ["the name of the gate", "der Name des Gates"]);
const key = secret(["the key, in hex", "der Schlüssel, hexadezimal"]);
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
const change = { right: "manage_keys", mode: "change" } as const;

export const macKeyActions: readonly Action[] = [
  action({
    name: "gate mac-key set",
    does: [
      "add the key on standard input, in hex: it writes from now on",
      "einen Schlüssel hinzufügen: er schreibt von jetzt an",
    ],
    ...change,
    inFile: "beside",
    fields: { gate, key, ...options },
    perform: onGate(setKey),
  }),
  action({
    name: "gate mac-key list",
    does: [
      "list a gate's keys by their check values",
      "die Schlüssel eines Gates mit ihren Prüfwerten auflisten",
    ],
    right: "see_configuration",
    mode: "look",
    fields: { gate },
    perform: onGate(listKeys),
  }),
  action({
    name: "gate mac-key drop",
    does: [
      "destroy a key: codes made with it are no longer accepted",
      "einen Schlüssel vernichten: mit ihm gebildete Codes werden nicht mehr angenommen",
    ],
    ...change,
    fields: {
      gate,
      id: word("text", "id", ["the number of the key", "die Nummer des Schlüssels"]),
      turnOff: flag([
        "also the last key: messages are no longer authenticated",
        "auch den letzten Schlüssel: Nachrichten werden nicht mehr authentisiert",
      ]),
    },
    perform: onGate(dropKey),
  }),
  action({
    name: "gate mac-key zone",
    does: [
      "set the zone key on standard input, in hex: the host delivers keys under it",
      "den Zonenschlüssel setzen: der Host liefert Schlüssel unter ihm",
    ],
    ...change,
    fields: {
      gate,
      key,
      cipher: preset(zoneCiphers, "word", "tdes", [
        "what the zone key is for",
        "wofür der Zonenschlüssel ist",
      ]),
      ...options,
      every: option("whole", "hours", [
        "ask the host for the next key so often (default: never)",
        "so oft den nächsten Schlüssel beim Host anfordern (üblich: nie)",
      ]),
    },
    perform: onGate(setZoneKey),
  }),
  action({
    name: "gate mac-key drop-zone",
    does: [
      "destroy the zone key: no key of the host is taken any more",
      "den Zonenschlüssel vernichten: kein Schlüssel des Hosts wird mehr angenommen",
    ],
    ...change,
    fields: { gate },
    perform: onGate(dropZoneKey),
  }),
  action({
    name: "gate mac-key exchange",
    does: ["ask the host for the next key now", "den nächsten Schlüssel jetzt anfordern"],
    ...change,
    duration: "minutes",
    fields: { gate },
    perform: onGate(exchangeKey),
  }),
];

type NewKey = {
  readonly key: Content;
  readonly algorithm: string;
  readonly bytes: string;
};

async function setKey(session: Session, known: Gate, given: NewKey): Promise<Output> {
  const { id: gateId, macKeys = [] } = known;
  if (macKeys.filter(({ verifiesUntil }) => verifiesUntil === undefined).length >= 2) {
    return new Problem(`The gate ${known.name} has two keys: drop the older one first.`);
  }
  const algorithm = readAlgorithm(given.algorithm, "algorithm");
  if (algorithm instanceof Problem) return algorithm;
  const read = readMacKey(await readContent(given.key), algorithm);
  if (read instanceof Problem) return read;
  const { checkValue } = read;
  const { sealSecret } = await openVault(session);
  const sealed = sealSecret(read.key, macKeyContext(gateId));
  const made = { algorithm, bytes: Number(given.bytes), checkValue };
  const id = await session.administration.addMacKey(gateId, { ...made, sealed });
  return { gate: known.name, id, ...made };
}

const readAlgorithm = readOneOf(macAlgorithmNames);

async function listKeys(session: Session, known: Gate): Promise<Output> {
  const keys = await listMacKeys(session.database.query, known.id);
  return keys.map((each, index) => ({ ...each, writes: index === 0 }));
}

type DroppedKey = { readonly id: string; readonly turnOff?: true | undefined };

async function dropKey(session: Session, known: Gate, given: DroppedKey): Promise<Output> {
  const { id, turnOff } = given;
  const ids = (known.macKeys ?? []).map((each) => each.id);
  if (!ids.includes(id)) return new Problem(`The gate ${known.name} has no key ${id}.`);
  const left = ids.length - 1;
  if (left === 0 && !turnOff) {
    return new Problem(
      `Without its last key the gate ${known.name} has no codes, and believes every answer. ` +
        "If the acquirer wants that, drop it with turn-off.",
    );
  }
  await session.administration.dropMacKey(id);
  return { gate: known.name, dropped: id, keys: left, authenticated: left > 0 };
}

type NewZoneKey = NewKey & { readonly cipher: string; readonly every?: string | undefined };

async function setZoneKey(session: Session, known: Gate, given: NewZoneKey): Promise<Output> {
  const { every } = given;
  const cipher = readOneOf(zoneCiphers)(given.cipher, "cipher");
  if (cipher instanceof Problem) return cipher;
  const algorithm = readAlgorithm(given.algorithm, "algorithm");
  if (algorithm instanceof Problem) return algorithm;
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
}

async function dropZoneKey(session: Session, known: Gate): Promise<Output> {
  const isDropped = await session.administration.dropZoneKey(known.id);
  if (!isDropped) return new Problem(`${known.name} has no zone key.`);
  return { gate: known.name, zoneKey: "none" };
}

/** Over a connection of its own; running nodes are notified of the key. */
async function exchangeKey(session: Session, known: Gate): Promise<Output> {
  const { id: gateId, name, zoneKey } = known;
  if (zoneKey === undefined) return new Problem(`The gate ${name} has no zone key.`);
  const { sealSecret } = await openVault(session);
  const { audit, database, config } = session;
  const storeKey = makeStoreKey({ audit, sealSecret, clock: systemClock }, gateId);
  const { answerTimeoutMs } = config;
  const asked = await exchangeOverOwnLink(known, { storeKey, clock: systemClock, answerTimeoutMs });
  if (asked instanceof Problem) return asked;
  const [newest] = await listMacKeys(database.query, gateId);
  return asked === "asked"
    ? { gate: name, key: "the host has accepted the request, and delivers the key to a node" }
    : { gate: name, id: newest?.id, checkValue: newest?.checkValue };
}
