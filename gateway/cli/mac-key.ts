/**
 * `gw gate mac-key`: the keys that a gate's messages are authenticated with. A key is read from
 * standard input, because a command line is visible to other users and kept in histories.
 */
import { text } from "node:stream/consumers";
import { type Command, Option } from "commander";
import type { Gate, GateMacKey } from "../acquirers/gates.ts";
import { macAlgorithmNames, readMacKey } from "../acquirers/iso8583-host/message-authentication.ts";
import { listMacKeys, macKeyContext } from "../storage/mac-keys.ts";
import { Problem } from "../values/problem.ts";
import { addCommands, type Output, type Session } from "./command.ts";
import { openVault, readConfiguration } from "./installation.ts";

const options = [
  new Option("--algorithm <word>", "how codes are made")
    .choices(macAlgorithmNames)
    .default("retail"),
  new Option("--bytes <count>", "how many bytes of the code are sent")
    .choices(["4", "8"])
    .default("8"),
];

export function addMacKeyCommands(gate: Command): void {
  const key = gate.command("mac-key").description("the keys that authenticate a gate's messages");
  // biome-ignore format: a table
  addCommands(key, [
    ["set <gate>",       "add the key on standard input, in hex: it writes from now on", setKey, options],
    ["list <gate>",      "list a gate's keys by their check values",                     listKeys],
    ["drop <gate> <id>", "destroy a key: codes made with it are no longer accepted",     dropKey],
  ]);
}

type KeyOptions = { readonly algorithm: GateMacKey["algorithm"]; readonly bytes: "4" | "8" };

async function setKey(session: Session, name: string, given: KeyOptions): Promise<Output> {
  const gate = findGate(name, await readConfiguration(session));
  if (gate instanceof Problem) return gate;
  if ((gate.macKeys?.length ?? 0) >= 2) {
    return new Problem(`The gate ${name} has two keys: drop the older one first.`);
  }
  const { algorithm, bytes } = given;
  const read = readMacKey(await text(process.stdin), algorithm);
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

async function dropKey(session: Session, name: string, id: string): Promise<Output> {
  const gate = findGate(name, await readConfiguration(session));
  if (gate instanceof Problem) return gate;
  const known = (gate.macKeys ?? []).map((key) => key.id);
  if (!known.includes(id)) return new Problem(`The gate ${name} has no key ${id}.`);
  await session.administration.dropMacKey(id);
  const left = known.length - 1;
  return { gate: name, dropped: id, keys: left, authenticated: left > 0 };
}

function findGate(name: string, { gates }: { readonly gates: ReadonlyMap<string, Gate> }) {
  const found = [...gates.values()].find((gate) => gate.name === name);
  return found ?? new Problem(`There is no gate ${name}: see \`gw gate list\`.`);
}
