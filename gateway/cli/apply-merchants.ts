/** The merchants of a configuration file: settings, cell and control key. None is ever removed. */
import type { Merchant } from "../orders/merchant.ts";
import { mainCell } from "../storage/cells.ts";
import { controlKeyContext } from "../storage/configuration.ts";
import { Problem } from "../values/problem.ts";
import { Secret } from "../values/secret.ts";
import { putEndpoints, putGroups } from "./apply-endpoints.ts";
import { putOauthKeys, putWalletKeys, readBeside } from "./apply-keys.ts";
import {
  differs,
  Invalid,
  readEnabled,
  type Sections,
  sectionsOf,
  valid,
  type Work,
} from "./apply-work.ts";
import { printMerchant, readEntry } from "./configuration-file.ts";
import { findLoginFault, merchantTable } from "./merchant.ts";
import { addCardTestingRules, findMerchant, makeControlKey } from "./merchant-set.ts";
import { readSettings } from "./options.ts";

/**
 * A new merchant in production gets the rules against card testing. `isRuled`: the file says which
 * rules the merchant has.
 */
export async function putMerchants(
  work: Work,
  entries: Sections,
  isRuled: (login: string) => boolean,
): Promise<void> {
  const { administration, load, prune, steps } = work;
  for (const [login, entry] of Object.entries(entries)) {
    const { endpoints, groups, ...own } = sectionsOf(entry, login);
    const { "oauth-key-files": oauth, ...others } = own;
    const { "walleta-key-files": _a, "walletb-key-files": _b, ...settings } = others;
    await putMerchant(work, login, settings, isRuled(login));
    const merchant = valid(findMerchant(await load(), login));
    await putOauthKeys(work, merchant, oauth);
    await putWalletKeys(work, merchant, own);
    if (endpoints !== undefined)
      await putEndpoints(work, login, sectionsOf(endpoints, "endpoints"));
    if (groups !== undefined) await putGroups(work, login, sectionsOf(groups, "groups"));
  }
  for (const { id, login, enabled } of prune ? (await load()).merchants : []) {
    if (Object.hasOwn(entries, login) || !enabled) continue;
    await administration.enableMerchant(id, false);
    steps.push({ what: `merchant ${login}`, change: "disable", fields: [] });
  }
}

async function putMerchant(
  work: Work,
  login: string,
  own: Sections,
  isRuled: boolean,
): Promise<void> {
  const { administration, load, prune } = work;
  const found = findMerchant(await load(), login);
  const known = found instanceof Problem ? undefined : found;
  const { cell, enabled, "control-key-file": keyFile, ...entry } = own;
  const given = valid(readEntry(merchantTable, entry, `The merchant ${login}`));
  const { wallets, ...old } = known?.settings ?? {};
  const base = prune ? {} : old;
  const settings = {
    ...valid(readSettings(merchantTable, given, base)),
    ...(wallets && { wallets }),
  };
  const placed = {
    cell: String(cell ?? known?.cell ?? mainCell),
    enabled: readEnabled(enabled, known),
  };
  const before = known && printMerchant(known.settings, known);
  const isOther = differs(work, `merchant ${login}`, before, printMerchant(settings, placed));
  if (known !== undefined && known.cell !== placed.cell) {
    throw new Invalid(`${login} is in the cell ${known.cell}: see \`gw cell move-merchant\`.`);
  }
  const key = keyFile === undefined ? undefined : await readKey(work, String(keyFile));
  const id = known?.id ?? (await createMerchant(work, login, placed.cell, key));
  const isScreened = work.session.config.environment === "production" && !isRuled;
  if (known === undefined && isScreened) await addCardTestingRules(work.audit, id);
  if (known !== undefined && key !== undefined) await putKey(work, known, key);
  if (!isOther) return;
  await administration.setMerchant(id, settings);
  if (placed.enabled !== (known?.enabled ?? true)) {
    await administration.enableMerchant(id, placed.enabled);
  }
}

async function createMerchant(work: Work, login: string, cell: string, key = makeControlKey()) {
  const { administration, session, vault } = work;
  valid(findLoginFault(login) ?? true);
  if (!session.cells.names().includes(cell)) throw new Invalid(`There is no cell ${cell}.`);
  const sealed = vault.sealSecret(new Secret(key), controlKeyContext(login));
  return administration.createMerchant(login, sealed, cell);
}

/** A key that is another than both becomes the new one; the one before it counts on. */
async function putKey(work: Work, merchant: Merchant, key: string): Promise<void> {
  const { administration, steps, vault } = work;
  const { id, login, controlKey, oldControlKey } = merchant;
  if ([controlKey.reveal(), oldControlKey?.reveal()].includes(key)) return;
  if (oldControlKey !== undefined) {
    throw new Invalid(`${login} has an old control key: drop it before it gets another.`);
  }
  const sealed = vault.sealSecret(new Secret(key), controlKeyContext(login));
  await administration.renewControlKey(id, sealed);
  steps.push({ what: `control key of ${login}`, change: "change", fields: [] });
}

async function readKey(work: Work, file: string): Promise<string> {
  const text = (await readBeside(work, file)).trim();
  if (/^[!-~]{16,128}$/.test(text)) return text;
  throw new Invalid(`The file ${file} has no control key: 16 to 128 printable characters.`);
}
