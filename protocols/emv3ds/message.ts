/** What every message has, and the few words that all parts of this codec share. */

export const versions = ["2.1.0", "2.2.0", "2.3.1"] as const;
export type Version = (typeof versions)[number];

// biome-ignore format: a table
export const messageTypes = ["PReq", "PRes", "AReq", "ARes", "CReq", "CRes", "RReq", "RRes", "Erro"] as const;
export type MessageType = (typeof messageTypes)[number];

/** As it stands in JSON. A checked message still holds elements that no table knows. */
export type Message = {
  readonly messageType: MessageType;
  readonly messageVersion: string;
  readonly [field: string]: unknown;
};

// biome-ignore format: a table
export type ErrorCode =
  | "101" | "102" | "103"
  | "201" | "202" | "203" | "204" | "205" | "206" | "207"
  | "301" | "302" | "303" | "304" | "305" | "306" | "307" | "308" | "309" | "310"
  | "311" | "312" | "313" | "314" | "315"
  | "402" | "403" | "404" | "405";

/** The element's text; undefined when it is absent or not a text. */
export function textOf(message: Fields, field: string): string | undefined {
  const value = Object.hasOwn(message, field) ? message[field] : undefined;
  return typeof value === "string" ? value : undefined;
}

export type Fields = { readonly [field: string]: unknown };

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isVersion(text: unknown): text is Version {
  return versions.some((version) => version === text);
}

export function isMessageType(text: unknown): text is MessageType {
  return messageTypes.some((type) => type === text);
}
