/**
 * `gw merchant control-key`: renews, sets and drops the key of a merchant's checksums. After a
 * renewal both keys count, until the operator drops the old one. The gateway signs with the new.
 */
import type { Command } from "commander";
import type { Merchant } from "../orders/merchant.ts";
import { controlKeyContext, findControlKeyUse } from "../storage/configuration.ts";
import { Problem } from "../values/problem.ts";
import { Secret } from "../values/secret.ts";
import { addCommands, type Output, type Session } from "./command.ts";
import { readInput } from "./input-file.ts";
import { openVault, readConfiguration } from "./installation.ts";
import { findMerchant, makeControlKey } from "./merchant-set.ts";

const keyForm = /^[!-~]{16,128}$/;

export function addControlKeyCommands(merchant: Command): void {
  const key = merchant.command("control-key").description("the key of a merchant's checksums");
  // biome-ignore format: a table
  addCommands(key, [
    ["renew <login>", "make a new key and print it; the old one counts until it is dropped",           renew],
    ["set <login>",   "set the key on standard input; the one before it counts until it is dropped",   set],
    ["drop <login>",  "drop the old key: requests that are signed with it are refused",                drop],
  ]);
}

async function renew(session: Session, login: string): Promise<Output> {
  const controlKey = makeControlKey();
  const problem = await put(session, login, controlKey);
  return problem ?? { login, controlKey };
}

async function set(session: Session, login: string): Promise<Output> {
  const key = (await readInput(session.input)).trim();
  if (!keyForm.test(key)) {
    return new Problem("A control key is 16 to 128 printable characters without spaces.");
  }
  const problem = await put(session, login, key);
  return problem ?? { login, "control key": "set" };
}

async function put(session: Session, login: string, key: string): Promise<Problem | undefined> {
  const merchant = findMerchant(await readConfiguration(session), login);
  if (merchant instanceof Problem) return merchant;
  if (merchant.oldControlKey !== undefined) {
    return new Problem(
      `The merchant ${login} has an old key that still counts: ` +
        `drop it first with \`gw merchant control-key drop ${login}\`.`,
    );
  }
  const { sealSecret } = await openVault(session);
  const sealed = sealSecret(new Secret(key), controlKeyContext(login));
  await session.administration.renewControlKey(merchant.id, sealed);
  return undefined;
}

async function drop(session: Session, login: string): Promise<Output> {
  const merchant = findMerchant(await readConfiguration(session), login);
  if (merchant instanceof Problem) return merchant;
  if (merchant.oldControlKey === undefined) {
    return new Problem(`The merchant ${login} has no old key.`);
  }
  const { oldUsed } = await findControlKeyUse(session.database.query, merchant.id);
  await session.administration.dropOldControlKey(merchant.id);
  return { login, "old key": "dropped", "last used": oldUsed ?? "never" };
}

/** What `gw merchant show` tells of the keys, without them. */
export async function describeKeys({ database }: Session, { id, oldControlKey }: Merchant) {
  const { set: setAt, oldUsed } = await findControlKeyUse(database.query, id);
  const old = oldControlKey === undefined ? {} : { oldControlKeyLastUsed: oldUsed ?? "never" };
  return { controlKeySet: setAt ?? "when it was created", ...old };
}
