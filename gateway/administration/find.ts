/** Finds the objects that an action's fields name. A problem says which object does not exist. */
import type { Gate } from "../acquirers/gates.ts";
import type { Endpoint, Merchant } from "../orders/merchant.ts";
import { parseReference } from "../orders/messages.ts";
import type { Configuration } from "../storage/configuration/configuration.ts";
import { findAtPosition, findById } from "../storage/orders/find-orders.ts";
import { findPosition } from "../storage/orders/order-ids.ts";
import { asEndpointId, asOrderId, isNumericId, type MerchantId } from "../values/ids.ts";
import { Problem } from "../values/problem.ts";
import type { FindOwner } from "./action.ts";
import { lastWord, option, preset, word } from "./field.ts";
import { type Opened, type Output, readConfiguration, type Session } from "./session.ts";

export function findMerchant({ merchants }: Configuration, login: string): Merchant | Problem {
  const found = merchants.find((merchant) => merchant.login === login);
  return found ?? new Problem(`There is no merchant ${login}.`, "not_found");
}

export function findEndpoint({ endpoints }: Configuration, id: string): Endpoint | Problem {
  return endpoints.get(asEndpointId(id)) ?? new Problem(`There is no endpoint ${id}.`, "not_found");
}

export function findGate({ gates }: Configuration, name: string): Gate | Problem {
  const found = [...gates.values()].find((gate) => gate.name === name);
  return found ?? new Problem(`There is no gate ${name}.`, "not_found");
}

export function endpointsOf(
  { id }: Pick<Merchant, "id">,
  { endpoints }: Configuration,
): readonly Endpoint[] {
  return [...endpoints.values()].filter(({ merchant }) => merchant.id === id);
}

type Known = Parameters<FindOwner>[0];

export async function findOrder({ cells }: Pick<Opened, "cells">, text: string) {
  const id = asOrderId(text);
  const isId = isNumericId(text) && text.length > 6;
  const order = isId
    ? await queriesOf({ cells }).search((query) => findById(query, id))
    : undefined;
  return order?.id === id ? order : new Problem(`There is no order ${text}.`, "not_found");
}

export async function findByReference(
  { cells, database }: Pick<Opened, "cells" | "database">,
  reference: string,
) {
  const named = parseReference(reference);
  if (named === undefined) return undefined;
  const place = await findPosition(database.query, named.sequence);
  return queriesOf({ cells }).search((query) => findAtPosition(query, place));
}

export function queriesOf({ cells }: Pick<Opened, "cells">) {
  return cells.stores(({ node }) => node.query);
}

export function loginsOf({ merchants }: Pick<Configuration, "merchants">) {
  return new Map(merchants.map(({ id, login: name }) => [id, name]));
}

export async function ownerByLogin(
  opened: Known,
  { login }: { readonly login: string },
): Promise<MerchantId | undefined> {
  const merchant = findMerchant(await readConfiguration(opened), login);
  return merchant instanceof Problem ? undefined : merchant.id;
}

export async function ownerByEndpoint(
  opened: Known,
  { endpoint: id }: { readonly endpoint: string },
): Promise<MerchantId | undefined> {
  const endpoint = findEndpoint(await readConfiguration(opened), id);
  return endpoint instanceof Problem ? undefined : endpoint.merchant.id;
}

export async function ownerByOrder(
  opened: Known,
  { order: id }: { readonly order: string },
): Promise<MerchantId | undefined> {
  const order = await findOrder(opened, id);
  return order instanceof Problem ? undefined : order.merchantId;
}

export const login = word("merchant", "login", ["the merchant's login", "der Login des Händlers"]);

const orderHelp = ["the id of the order", "die Nummer der Zahlung"] as const;
export const order = word("text", "orderid", orderHelp);
export const lastOrder = lastWord("text", "orderid", orderHelp);

export const ofMerchant = option("merchant", "login", [
  "only of one merchant",
  "nur von einem Händler",
]);
export const ofEndpoint = option("endpoint", "id", [
  "only of one endpoint",
  "nur von einem Endpunkt",
]);
export const limit = preset("whole", "n", "100", [
  "how many, the latest first",
  "wie viele, die neuesten zuerst",
]);

export function findLimitFault(text: string | undefined): Problem | undefined {
  if (text === undefined || /^[1-9]\d{0,6}$/.test(text)) return undefined;
  return new Problem("limit is a number from 1.");
}

type Configured = Session & { readonly configuration: Configuration };

/** Wraps an action: finds the object that a field names, and calls the action with the object. */
function on<Field extends string, Found>(
  field: Field,
  find: (configuration: Configuration, text: string) => Found | Problem,
) {
  return <Given>(
    work: (found: Found, session: Configured, given: Given) => Promise<Output> | Output,
  ) =>
    async (session: Session, given: Given & Readonly<Record<Field, string>>): Promise<Output> => {
      const configuration = await readConfiguration(session);
      const found = find(configuration, given[field]);
      return found instanceof Problem ? found : work(found, { ...session, configuration }, given);
    };
}

export const onMerchant = on("login", findMerchant);
export const onEndpoint = on("endpoint", findEndpoint);
export const onGate = on("gate", findGate);
