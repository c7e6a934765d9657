/** Raw requests, for tests that care about bytes: nothing is added, nothing is decoded. */
import { createHash } from "node:crypto";
import type { World } from "./world.ts";

export type RawReply = {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
};

export function sha1(text: string): string {
  return createHash("sha1").update(text).digest("hex");
}

export async function post(
  world: World,
  path: string,
  body: string | Uint8Array,
  headers: Readonly<Record<string, string>> = {},
): Promise<RawReply> {
  const answer = await fetch(`${world.gateway.url}${path}`, {
    method: "POST",
    body: typeof body === "string" ? body : Buffer.from(body),
    headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
  });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
}

/** A body whose control is right for a sale at this endpoint. */
export function signedSale(
  world: World,
  endpoint: string,
  fields: Readonly<Record<string, string | undefined>>,
  minorUnits = "1015",
): string {
  const { client_orderid = "", email = "" } = fields;
  const control = sha1(`${endpoint}${client_orderid}${minorUnits}${email}${world.set.controlKey}`);
  return formOf({ ...fields, control });
}

export function signedStatus(
  world: World,
  fields: Readonly<Record<string, string | undefined>>,
): string {
  const { client_orderid = "", orderid = "" } = fields;
  const { login, controlKey } = world.set;
  return formOf({
    login,
    ...fields,
    control: sha1(`${login}${client_orderid}${orderid}${controlKey}`),
  });
}

/** `money`: minor units and currency as they are signed; nothing where no amount is sent. */
export function signedFollowUp(
  world: World,
  fields: Readonly<Record<string, string | undefined>>,
  money: string,
): string {
  const { controlKey } = world.set;
  const { login = "", client_orderid = "", orderid = "" } = fields;
  const control = sha1(`${login}${client_orderid}${orderid}${money}${controlKey}`);
  return formOf({ control, ...fields });
}

export function formOf(fields: Readonly<Record<string, string | undefined>>): string {
  const sent = Object.entries(fields).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value]],
  );
  return new URLSearchParams(sent).toString();
}
