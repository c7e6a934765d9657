/**
 * The merchants of a configuration file, with their endpoints and groups. `--prune` disables stored
 * merchants and endpoints that the file omits, and never removes any.
 */
import { isDeepStrictEqual } from "node:util";
import type { Endpoint, Merchant } from "../../orders/merchant.ts";
import { mainCell } from "../../storage/cells/cells.ts";
import {
  type Configuration,
  controlKeyContext,
} from "../../storage/configuration/configuration.ts";
import { findCurrency } from "../../values/iso-codes.ts";
import { Problem } from "../../values/problem.ts";
import { Secret } from "../../values/secret.ts";
import { printEndpoint, printMerchant } from "../configuration-file.ts";
import { endpointsOf, findMerchant } from "../find.ts";
import { putCallbackUrls, readCallbackUrls } from "../merchants/endpoint-callbacks.ts";
import {
  endpointTable,
  placesOf,
  readEndpointSettings,
  readGatesFor,
} from "../merchants/endpoint-settings.ts";
import { readMembers } from "../merchants/endpoints.ts";
import { isControlKey, replaceKey } from "../merchants/merchant-keys.ts";
import { addCardTestingRules, makeControlKey } from "../merchants/merchant-set.ts";
import { findLoginFault, merchantTable } from "../merchants/merchants.ts";
import { findRoutesFault, placeIn, putRoutes, readRouteTexts } from "../merchants/routes.ts";
import { readEntry, readSettings } from "../settings.ts";
import { putOauthKeys, putWalletKeys } from "./keys.ts";
import {
  differs,
  Invalid,
  readBeside,
  readEnabled,
  readTexts,
  refuseUnknown,
  type Sections,
  sectionsOf,
  valid,
  type Work,
} from "./work.ts";

/** In production, a new merchant without rules in the file gets the rules against card testing. */
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
    throw new Invalid(`${login} is in the cell ${known.cell}, and a file does not move it.`);
  }
  const key = keyFile === undefined ? undefined : await readKey(work, String(keyFile));
  const id = known?.id ?? (await createMerchant(work, login, placed.cell, key));
  const isScreened = work.session.config.environment === "production" && !isRuled;
  if (known === undefined && isScreened) await addCardTestingRules(work.audit, id);
  if (known !== undefined && key !== undefined) await putKey(work, known, key);
  if (!isOther) return;
  if (!isDeepStrictEqual(settings, known?.settings ?? {})) {
    await administration.setMerchant(id, settings);
  }
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

async function putKey(work: Work, merchant: Merchant, key: string): Promise<void> {
  const { login, controlKey, oldControlKey } = merchant;
  if ([controlKey.reveal(), oldControlKey?.reveal()].includes(key)) return;
  const { administration, session, steps, vault } = work;
  valid(await replaceKey("set", { ...session, administration, vault }, merchant, key));
  steps.push({ what: `control key of ${login}`, change: "change", fields: [] });
}

async function readKey(work: Work, file: string): Promise<string> {
  const text = (await readBeside(work, file)).trim();
  if (isControlKey(text)) return text;
  throw new Invalid(`The file ${file} has no control key: 16 to 128 printable characters.`);
}

async function putEndpoints(work: Work, login: string, entries: Sections): Promise<void> {
  const { administration, load, prune, steps } = work;
  const configuration = await load();
  const merchant = valid(findMerchant(configuration, login));
  const stored = endpointsOf(merchant, configuration);
  for (const [name, entry] of Object.entries(entries)) {
    const named = stored.filter((endpoint) => endpoint.name === name);
    if (named.length > 1) throw new Invalid(`${login} has several endpoints ${name}.`);
    await putEndpoint(
      work,
      configuration,
      { merchant, name, known: named[0] },
      sectionsOf(entry, name),
    );
  }
  for (const endpoint of prune ? stored : []) {
    if (Object.hasOwn(entries, endpoint.name) || !endpoint.enabled) continue;
    await administration.setEndpoint(endpoint.id, endpoint.settings, false);
    steps.push({ what: `endpoint ${endpoint.name} of ${login}`, change: "disable", fields: [] });
  }
}

async function putEndpoint(
  work: Work,
  configuration: Configuration,
  { merchant, name, known }: { merchant: Merchant; name: string; known: Endpoint | undefined },
  own: Sections,
): Promise<void> {
  const { administration, prune } = work;
  const { "callback-urls": callbackUrls, routes: rules, ...others } = own;
  const { currency: code, enabled, gates, ...entry } = others;
  const what = `endpoint ${name} of ${merchant.login}`;
  const currency = findCurrency(String(code ?? known?.currency ?? ""));
  if (currency === undefined) throw new Invalid(`The ${what} has no currency.`);
  if (known !== undefined && known.currency !== currency.code) {
    throw new Invalid(`The currency of the ${what} cannot be changed.`);
  }
  const given = valid(readEntry(endpointTable(currency), entry, `The ${what}`));
  const { webhookSecret, ...old } = known?.settings ?? { threeDSecure: "off" as const };
  const base = prune ? undefined : old;
  const read = readEndpointSettings(given, currency, base, work.session.config);
  if (read instanceof Problem) throw new Invalid(`The ${what}: ${read.sentence}`);
  const urls = readTexts(callbackUrls);
  const called = urls && readCallbackUrls(urls, read, work.session.config);
  if (called instanceof Problem) throw new Invalid(`The ${what}: ${called.sentence}`);
  const kept = { ...read, ...(webhookSecret && { webhookSecret }) };
  const withUrls = called === undefined ? kept : putCallbackUrls(kept, called);
  const ruleTexts = readTexts(rules);
  const settings =
    ruleTexts === undefined ? withUrls : putRoutes(withUrls, valid(readRouteTexts(ruleTexts)));
  const texts = readTexts(gates) ?? (known && placesOf(known)) ?? [];
  const places = valid(readGatesFor(currency.code, texts, configuration));
  const place = placeIn(configuration, { settings, merchant, currency: currency.code }, places);
  const fault = findRoutesFault(settings.routes, place);
  if (fault !== undefined) throw new Invalid(`The ${what}: ${fault.sentence}`);
  const names = new Map([...configuration.gates.values()].map((gate) => [gate.id, gate.name]));
  const printed = places.map(
    ({ gateId, rank, weight }) => `${names.get(gateId)}:${rank}:${weight}`,
  );
  const isOn = readEnabled(enabled, known);
  const after = { currency: currency.code, enabled: isOn, settings, gates: printed };
  const before = known && printEndpoint({ ...known, gates: placesOf(known) });
  if (!differs(work, what, before, printEndpoint(after))) return;
  if (known === undefined) {
    const made = {
      merchantId: merchant.id,
      name,
      currency: currency.code,
      gates: places,
      settings,
    };
    const id = await administration.createEndpoint(made);
    if (!isOn) await administration.setEndpoint(id, settings, false);
    return;
  }
  if (isOn !== known.enabled || !isDeepStrictEqual(settings, known.settings)) {
    await administration.setEndpoint(known.id, settings, isOn);
  }
  if (!isDeepStrictEqual(printed, placesOf(known))) {
    await administration.setEndpointGates(known.id, places);
  }
}

async function putGroups(work: Work, login: string, entries: Sections): Promise<void> {
  const { administration, load, prune, steps } = work;
  const configuration = await load();
  const merchant = valid(findMerchant(configuration, login));
  const own = endpointsOf(merchant, configuration);
  const stored = configuration.groups.filter((group) => group.merchant.id === merchant.id);
  for (const [name, entry] of Object.entries(entries)) {
    const known = stored.find((group) => group.name === name);
    const what = `group ${name} of ${login}`;
    const { endpoints, enabled, ...unknown } = sectionsOf(entry, name);
    refuseUnknown(`The ${what}`, unknown);
    const names = readTexts(endpoints) ?? known?.endpoints.map((each) => each.name) ?? [];
    const ids = names.map((each) => own.find((endpoint) => endpoint.name === each)?.id ?? each);
    const members = valid(readMembers(merchant, ids, configuration));
    const isOn = readEnabled(enabled, known);
    const before = known && {
      enabled: known.enabled,
      endpoints: known.endpoints.map((each) => each.name),
    };
    if (!differs(work, what, before, { enabled: isOn, endpoints: names })) continue;
    const id = known?.id ?? (await administration.createGroup(merchant.id, name, members));
    if (known !== undefined || !isOn) await administration.setGroup(id, members, isOn);
  }
  for (const group of prune ? stored : []) {
    if (Object.hasOwn(entries, group.name) || !group.enabled) continue;
    const members = group.endpoints.map(({ id }) => id);
    await administration.setGroup(group.id, members, false);
    steps.push({ what: `group ${group.name} of ${login}`, change: "disable", fields: [] });
  }
}
