/** The endpoints and groups of a merchant in a configuration file; `--prune` disables the rest. */
import type { Endpoint, Merchant } from "../orders/merchant.ts";
import type { Configuration } from "../storage/configuration.ts";
import { findCurrency } from "../values/iso-codes.ts";
import { Problem } from "../values/problem.ts";
import {
  differs,
  Invalid,
  readEnabled,
  readTexts,
  refuseUnknown,
  type Sections,
  sectionsOf,
  valid,
  type Work,
} from "./apply-work.ts";
import { placesOf, printEndpoint, readEntry } from "./configuration-file.ts";
import { endpointTable, readEndpointSettings, readGatesFor, readMembers } from "./endpoint.ts";
import { endpointsOf, findMerchant } from "./merchant-set.ts";

export async function putEndpoints(work: Work, login: string, entries: Sections): Promise<void> {
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
  const { currency: code, enabled, gates, ...entry } = own;
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
  const settings = { ...read, ...(webhookSecret && { webhookSecret }) };
  const texts = readTexts(gates) ?? (known && placesOf(known)) ?? [];
  const places = valid(readGatesFor(currency.code, texts, configuration));
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
  await administration.setEndpoint(known.id, settings, isOn);
  await administration.setEndpointGates(known.id, places);
}

export async function putGroups(work: Work, login: string, entries: Sections): Promise<void> {
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
      ...{ enabled: known.enabled, endpoints: known.endpoints.map((each) => each.name) },
    };
    if (!differs(work, what, before, { enabled: isOn, endpoints: names })) continue;
    const id = known?.id ?? (await administration.createGroup(merchant.id, name, members));
    await administration.setGroup(id, members, isOn);
  }
  for (const group of prune ? stored : []) {
    if (Object.hasOwn(entries, group.name) || !group.enabled) continue;
    const members = group.endpoints.map(({ id }) => id);
    await administration.setGroup(group.id, members, false);
    steps.push({ what: `group ${group.name} of ${login}`, change: "disable", fields: [] });
  }
}
