/** Hosted fields without a browser: tickets of the shop's server, and what the fields post. */
import assert from "node:assert/strict";
import { saleFields } from "./merchant.ts";
import { type Fields, giveKey, makeKeyPair, postSigned, type RawReply } from "./wire.ts";
import type { World } from "./world.ts";

const pair = makeKeyPair();
export const signer = { consumerKey: "demo", privateKey: pair.privateKey };
export const shopOrigin = "https://shop.example";

/** Switches hosted fields on at all endpoints, for pages of these sites. */
export async function switchOn(world: World, origins: readonly string[] = [shopOrigin]) {
  const settings = { hostedFields: true, embedOrigins: origins, shopName: "Apples" };
  const change = "update endpoints set settings = (settings::jsonb || $1::jsonb)::json";
  await world.readRows(change, [JSON.stringify(settings)]);
  await giveKey(world, "demo", pair);
}

export function idOf(world: World, endpoint = "plain"): string {
  return world.set.endpoints[endpoint] ?? assert.fail();
}

/** Asks for a ticket as the shop's server. */
export async function ticketFor(world: World, id = idOf(world)): Promise<string> {
  const path = `/gw/api/v4/tokenize/create-ephemeral-ticket/${id}`;
  const reply = await postSigned(world, signer, path, {});
  return new URLSearchParams(reply.text).get("ephemeralTicket") ?? assert.fail(reply.text);
}

export const typedCard = { cardNumber: "4111 1111 1111 1111", expiryDate: "12 / 31", cvv: "123" };

export type Tokenized = { readonly status: number; readonly told: Readonly<Record<string, never>> };

/** Posts a card as a field's own document does. */
export async function tokenize(
  world: World,
  fields: Readonly<Record<string, unknown>>,
  headers: Readonly<Record<string, string>> = { "sec-fetch-site": "same-origin" },
  url = world.gateway.url,
): Promise<Tokenized> {
  const answer = await fetch(`${url}/gw/api/v4/tokenize/hosted-fields`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ ...typedCard, ...fields }),
  });
  return { status: answer.status, told: (await answer.json()) as Tokenized["told"] };
}

export async function tokenFor(world: World, card: object = {}, id = idOf(world)): Promise<string> {
  const { told } = await tokenize(world, { ephemeralTicket: await ticketFor(world, id), ...card });
  return told["hostedFieldsToken"] ?? assert.fail(JSON.stringify(told));
}

/** The fields of a sale that is paid with the token. */
export function paidBy(token: string, fields: Fields = {}) {
  return saleFields({
    credit_card_number: undefined,
    expire_month: undefined,
    expire_year: undefined,
    cvv2: undefined,
    hosted_fields_token: token,
    ...fields,
  });
}

export function readReply({ text }: RawReply): Readonly<Record<string, string>> {
  return Object.fromEntries(new URLSearchParams(text));
}
