/**
 * Finds this installation's key-encryption key: in one of the settings, in the file that staging
 * makes, or at the parent process, which sends it to its workers in memory.
 */
import type { Worker } from "node:cluster";
import { resolve } from "node:path";
import {
  type Config,
  type Environment,
  keyFromParent,
  keySourcesOf,
  masterKeySource,
} from "../config/config.ts";
import { Problem } from "../values/problem.ts";
import { makeKeyFile, readMasterKey } from "../vault/master-key.ts";

export async function findMasterKey(
  config: Config,
  environment: Environment,
): Promise<Uint8Array | Problem> {
  if (environment[keyFromParent] !== undefined) {
    if (process.send !== undefined) return askParent();
    return new Problem(`${keyFromParent} is for workers of \`gw start\` only: unset it.`);
  }
  const source = masterKeySource(config);
  try {
    if (keySourcesOf(config).length === 0) await makeKeyFile(source.file);
  } catch {
    return new Problem(
      `The data folder ${resolve(config.dataDir)} is not writable: ` +
        "make it writable for this user, or set GW_DATA_DIR to another folder.",
    );
  }
  const key = await readMasterKey(source);
  return typeof key === "string" ? new Problem(key) : key;
}

/** Child processes, and tools that print the environment, must not see the key. */
export function deleteGivenKeys(environment: Environment): void {
  if (environment !== process.env) return;
  for (const name of ["GW_MASTER_KEY", "GW_NEW_MASTER_KEY"]) delete process.env[name];
}

type KeyMessage = { readonly wantsKey?: true; readonly masterKey?: string };

/** Sends the key over the pipe to a worker that requests it. */
export function sendKeyTo(worker: Worker, masterKey: Uint8Array): void {
  worker.on("message", ({ wantsKey }: KeyMessage) => {
    if (wantsKey !== true) return;
    const message: KeyMessage = { masterKey: Buffer.from(masterKey).toString("base64") };
    worker.send(message, () => undefined);
  });
}

function askParent(): Promise<Uint8Array> {
  const { promise, resolve: receive } = Promise.withResolvers<Uint8Array>();
  const listen = ({ masterKey }: KeyMessage) => {
    if (masterKey === undefined) return;
    process.off("message", listen);
    receive(Buffer.from(masterKey, "base64"));
  };
  process.on("message", listen);
  const question: KeyMessage = { wantsKey: true };
  process.send?.(question);
  return promise;
}
