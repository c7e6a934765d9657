/**
 * Raw requests, for tests of single bytes: nothing is added, and nothing is decoded. They are
 * signed by control, or by OAuth with another implementation of RFC 5849, which shares no mistake
 * with the gateway's and can make every part of the signature wrong.
 */
import {
  createHash,
  createHmac,
  createSign,
  generateKeyPairSync,
  type KeyObject,
} from "node:crypto";
import type { Test } from "./clean-up.ts";
import { joinWorld } from "./shared-world.ts";
import { startWorld, type World } from "./world.ts";

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

/** Returns a body with the correct control of a sale at this endpoint. */
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

/**
 * Returns a signed follow-up. `money` is minor units and currency as they are signed; empty if no
 * amount is sent.
 */
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

export type Fields = Readonly<Record<string, string | undefined>>;

export type Signer = {
  readonly consumerKey: string;
  readonly privateKey: KeyObject;
};

/** The parts of a request to sign or send wrongly. */
export type Wrong = Partial<Signer> & {
  readonly method?: string;
  readonly url?: string;
  readonly signed?: Fields;
  readonly nonce?: string;
  readonly timestamp?: number | string;
  readonly signatureMethod?: string;
  readonly version?: string;
  readonly hash?: string;
  /** Signs by HMAC-SHA1 with this key. */
  readonly secret?: string;
  /** Makes the header to send from the correct one. */
  readonly header?: (right: string) => string | undefined;
};

export type KeyPair = ReturnType<typeof makeKeyPair>;

export function makeKeyPair() {
  return generateKeyPairSync("rsa", { modulusLength: 2048 });
}

/**
 * Returns functions that start worlds whose demonstration merchant has this key: one for a single
 * test, and a shared one.
 */
export function worldsWithKey(pair: KeyPair) {
  const give = (world: World) => giveKey(world, "demo", pair);
  return {
    async startSigned(t: Test, settings: Readonly<Record<string, string>> = {}): Promise<World> {
      const world = await startWorld(t, settings);
      await give(world);
      return world;
    },
    joinSigned: (t: Test): Promise<World> => joinWorld(t, {}, give),
  };
}

/** Gives a merchant of the world a key. The gateway restarts with it. */
export async function giveKey(world: World, login: string, { publicKey }: KeyPair): Promise<void> {
  await world.installation.database.query(
    `insert into merchant_keys (merchant_id, name, public_key)
     select id, 'test', $2 from merchants where login = $1`,
    [login, publicKey.export({ format: "pem", type: "spki" })],
  );
  await world.restart();
}

let count = 0;

export function authorizationFor(
  url: string,
  fields: Fields,
  { now, ...wrong }: Signer & Wrong & { readonly now: number },
): string | undefined {
  count += 1;
  const own = {
    oauth_consumer_key: wrong.consumerKey,
    oauth_nonce: wrong.nonce ?? `nonce-${process.pid}-${count}`,
    oauth_signature_method: wrong.signatureMethod ?? (wrong.secret ? "HMAC-SHA1" : "RSA-SHA256"),
    oauth_timestamp: String(wrong.timestamp ?? Math.floor(now / 1000)),
    oauth_version: wrong.version ?? "1.0",
  };
  const [place = "", query = ""] = (wrong.url ?? url).split("?");
  const pairs = [
    ...new URLSearchParams(query),
    ...new URLSearchParams(formOf(wrong.signed ?? fields)),
    ...Object.entries(own),
  ].map(([name, value]) => `${encode(name)}=${encode(value)}`);
  const text = [wrong.method ?? "POST", place, pairs.sort().join("&")].map(encode).join("&");
  const signature = wrong.secret
    ? createHmac("sha1", `${encode(wrong.secret)}&`)
        .update(text)
        .digest("base64")
    : createSign(wrong.hash ?? "sha256")
        .update(text)
        .sign(wrong.privateKey, "base64");
  const signed = { ...own, oauth_signature: signature };
  const written = Object.entries(signed).map(([name, value]) => `${name}="${encode(value)}"`);
  const right = `OAuth ${written.join(", ")}`;
  return wrong.header === undefined ? right : wrong.header(right);
}

/**
 * Posts a request to the world's gateway, signed as its merchant does, except for what is wrong.
 */
export async function postSigned(
  world: World,
  signer: Signer,
  path: string,
  fields: Fields,
  wrong: Wrong = {},
): Promise<RawReply> {
  const url = `${world.gateway.url}${path}`;
  const signed = { ...signer, ...wrong, now: world.clock.now() };
  return send(world.gateway.port, path, fields, authorizationFor(url, fields, signed));
}

/** Signs a request by GET as the world's merchant does, except for what is wrong. */
export function signGet(world: World, signer: Signer, path: string, wrong: Wrong = {}) {
  const url = `${world.gateway.url}${path}`;
  const signed = { method: "GET", ...signer, ...wrong, now: world.clock.now() };
  const authorization = authorizationFor(url, {}, signed);
  const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
  return { url: `http://127.0.0.1:${world.gateway.port}${path}`, headers };
}

/** Sends the unchanged request to the node that listens at the port. */
export async function send(
  port: number,
  path: string,
  fields: Fields,
  authorization: string | undefined,
): Promise<RawReply> {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: "POST",
    body: formOf(fields),
    headers: {
      "content-type": "application/x-www-form-urlencoded",
      ...(authorization === undefined ? {} : { authorization }),
    },
  });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
}

/** Returns the failed checks that the operator's log names, in their order. */
export function deniedChecks({ logged }: World): readonly unknown[] {
  const lines = logged.map((line) => JSON.parse(line));
  return lines.filter(({ event }) => event === "request.access_denied").map(({ check }) => check);
}

function encode(text: string): string {
  let encoded = "";
  for (const byte of Buffer.from(text)) {
    const character = String.fromCharCode(byte);
    const plain = /[A-Za-z0-9\-._~]/.test(character);
    encoded += plain ? character : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  }
  return encoded;
}
