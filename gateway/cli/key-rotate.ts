/** `gw key rotate`: new keys for cards and secrets, beside a gateway that goes on. */
import { setTimeout as pause } from "node:timers/promises";
import { makeKeyLife, takeRotationLock } from "../storage/key-life.ts";
import { makeKeyStore } from "../storage/vault-tables.ts";
import { Problem } from "../values/problem.ts";
import { openKeys } from "../vault/keys.ts";
import { rotateKeys } from "../vault/rotate-keys.ts";
import { complain, type Installation, withInstallation } from "./installation.ts";
import { print } from "./print.ts";

type Options = { readonly json?: boolean; readonly anew?: boolean };

export function rotateVaultKeys({ json = false, anew = false }: Options): Promise<void> {
  return withInstallation(async (installation) => {
    const lock = await takeRotationLock(installation.database);
    if (lock === undefined) {
      return complain(new Problem("A rotation is under way already: see `gw key list`."));
    }
    try {
      await rotate(installation, { json, anew });
    } finally {
      await lock.release();
    }
  });
}

async function rotate(
  { database, masterKey, config }: Installation,
  { json, anew }: Required<Options>,
): Promise<void> {
  const { cards, destroyed, kept } = await rotateKeys({
    masterKey,
    anew,
    keys: await openKeys(masterKey, makeKeyStore(database.query)),
    store: makeKeyLife(database),
    graceMs: config.keyGraceMs,
    pause: (durationMs) => pause(durationMs),
    report: (progress) => process.stderr.write(`${progress}\n`),
  });
  if (json) print({ cards, destroyed, kept }, true);
  else print({ "cards sealed anew": cards, "keys destroyed": destroyed.join(", ") || "none" });
  if (kept.length === 0) return;
  complain(
    new Problem(
      `The keys ${kept.join(", ")} are kept: something that they seal does not open. ` +
        "Look for damage in the database, then run `gw key rotate` again, or with --anew for " +
        "new keys all the same.",
    ),
  );
}
