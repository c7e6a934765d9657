/**
 * `gw gate mac-key`: the keys that a gate's messages are authenticated with. A key is read from
 * standard input, because a command line is visible to other users and kept in histories.
 */
import { type Command, Option } from "commander";
import type { Gate, GateMacKey, GateZoneKey } from "../acquirers/gates.ts";
import { exchangeOverOwnLink, hasKeyExchange } from "../acquirers/iso8583-host/exchange-command.ts";
import {
  macAlgorithmNames,
  readMacKey,
  readZoneKey,
  zoneCiphers,
} from "../acquirers/iso8583-host/message-authentication.ts";
import { makeStoreKey } from "../storage/delivered-keys.ts";
import { listMacKeys, macKeyContext, zoneKeyContext } from "../storage/mac-keys.ts";
import { Problem } from "../values/problem.ts";
import { systemClock } from "../values/time.ts";
import { addCommands, type Output, type Session } from "./command.ts";
import { readInput } from "./input-file.ts";
import { openVault, readConfiguration } from "./installation.ts";

const options = [
  new Option("--algorithm <word>", "how codes are made")
    .choices(macAlgorithmNames)
    .default("retail"),
  new Option("--bytes <count>", "how many bytes of the code are sent")
    .choices(["4", "8"])
    .default("8"),
];

const turnOff = new Option("--turn-off", "also the last key: messages are no longer authenticated");

const zoneOptions = [
  new Option("--cipher <word>", "what the zone key is for").choices(zoneCiphers).default("tdes"),
  ...options,
  new Option("--every <hours>", "ask the host for the next key so often (default: never)"),
];

export function addMacKeyCommands(gate: Command): void {
  const key = gate.command("mac-key").description("the keys that authenticate a gate's messages");
  // biome-ignore format: a table
  addCommands(key, [
    ["set <gate>",       "add the key on standard input, in hex: it writes from now on", setKey, options],
    ["list <gate>",      "list a gate's keys by their check values",                     listKeys],
    ["drop <gate> <id>", "destroy a key: codes made with it are no longer accepted",     dropKey, [turnOff]],
    ["zone <gate>",      "set the zone key on standard input, in hex: the host delivers keys under it", setZoneKey, zoneOptions],
    ["drop-zone <gate>", "destroy the zone key: no key of the host is taken any more",   dropZoneKey],
    ["exchange <gate>",  "ask the host for the next key now",                            exchangeKey],
  ]);
}

type KeyOptions = { readonly algorithm: GateMacKey["algorithm"]; readonly bytes: "4" | "8" };

async function setKey(session: Session, name: string, given: KeyOptions): Promise<Output> {
  const gate = findGate(name, await readConfiguration(session));
  if (gate instanceof Problem) return gate;
  if ((gate.macKeys ?? []).filter((key) => key.verifiesUntil === undefined).length >= 2) {
    return new Problem(`The gate ${name} has two keys: drop the older one first.`);
  }
  const { algorithm, bytes } = given;
  const read = readMacKey(await readInput(session.input), algorithm);
  if (read instanceof Problem) return read;
  const { key, checkValue } = read;
  const { sealSecret } = await openVault(session);
  const sealed = sealSecret(key, macKeyContext(gate.id));
  const row = { algorithm, bytes: Number(bytes), checkValue, sealed };
  const id = await session.administration.addMacKey(gate.id, row);
  return { gate: name, id, algorithm, bytes: Number(bytes), checkValue };
}

async function listKeys(session: Session, name: string): Promise<Output> {
  const gate = findGate(name, await readConfiguration(session));
  if (gate instanceof Problem) return gate;
  const keys = await listMacKeys(session.database.query, gate.id);
  return keys.map((key, index) => ({ ...key, writes: index === 0 }));
}

async function dropKey(
  session: Session,
  name: string,
  id: string,
  given: { readonly turnOff?: boolean },
): Promise<Output> {
  const gate = findGate(name, await readConfiguration(session));
  if (gate instanceof Problem) return gate;
  const known = (gate.macKeys ?? []).map((key) => key.id);
  if (!known.includes(id)) return new Problem(`The gate ${name} has no key ${id}.`);
  const left = known.length - 1;
  if (left === 0 && given.turnOff !== true) {
    return new Problem(
      `Without its last key the gate ${name} has no codes, and believes every answer. ` +
        "If the acquirer wants that, drop it with --turn-off.",
    );
  }
  await session.administration.dropMacKey(id);
  return { gate: name, dropped: id, keys: left, authenticated: left > 0 };
}

type ZoneOptions = KeyOptions & { readonly cipher: GateZoneKey["cipher"]; readonly every?: string };

async function setZoneKey(session: Session, name: string, given: ZoneOptions): Promise<Output> {
  const gate = findGate(name, await readConfiguration(session));
  if (gate instanceof Problem) return gate;
  const { cipher, algorithm, every } = given;
  const bytes = Number(given.bytes);
  if (!hasKeyExchange(gate.kind)) {
    return new Problem(`The dialect ${gate.kind} has no message for keys.`);
  }
  if (algorithm === "cmac" && cipher === "tdes") {
    return new Problem("A key for cmac is AES: it is delivered under a zone key for AES only.");
  }
  if (every !== undefined && !/^[1-9]\d{0,3}$/.test(every)) {
    return new Problem("--every takes a number of hours, from 1 to 9999.");
  }
  const read = readZoneKey(await readInput(session.input), cipher);
  if (read instanceof Problem) return read;
  const { key, checkValue } = read;
  const { sealSecret } = await openVault(session);
  const sealed = sealSecret(key, zoneKeyContext(gate.id));
  const everyS = every === undefined ? null : Number(every) * 3_600;
  const row = { cipher, algorithm, bytes, checkValue, sealed, everyS };
  await session.administration.putZoneKey(gate.id, row);
  return { gate: name, cipher, algorithm, bytes, checkValue, everyHours: every ?? "never" };
}

async function dropZoneKey(session: Session, name: string): Promise<Output> {
  const gate = findGate(name, await readConfiguration(session));
  if (gate instanceof Problem) return gate;
  const isDropped = await session.administration.dropZoneKey(gate.id);
  return isDropped ? { gate: name, zoneKey: "none" } : new Problem(`${name} has no zone key.`);
}

/** Over a connection of its own; running nodes are notified of the key. */
async function exchangeKey(session: Session, name: string): Promise<Output> {
  const gate = findGate(name, await readConfiguration(session));
  if (gate instanceof Problem) return gate;
  if (gate.zoneKey === undefined) {
    return new Problem(`The gate ${name} has no zone key: see \`gw gate mac-key zone\`.`);
  }
  const { sealSecret } = await openVault(session);
  const { audit, database, config } = session;
  const storeKey = makeStoreKey({ audit, sealSecret, clock: systemClock }, gate.id);
  const { answerTimeoutMs } = config;
  const asked = await exchangeOverOwnLink(gate, { storeKey, clock: systemClock, answerTimeoutMs });
  if (asked instanceof Problem) return asked;
  const [newest] = await listMacKeys(database.query, gate.id);
  return asked === "asked"
    ? { gate: name, key: "the host has accepted the request, and delivers the key to a node" }
    : { gate: name, id: newest?.id, checkValue: newest?.checkValue };
}

function findGate(name: string, { gates }: { readonly gates: ReadonlyMap<string, Gate> }) {
  const found = [...gates.values()].find((gate) => gate.name === name);
  return found ?? new Problem(`There is no gate ${name}: see \`gw gate list\`.`);
}
