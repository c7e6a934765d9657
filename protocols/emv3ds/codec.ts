/**
 * Converts text to a message that its table accepts, or to the fault that an Erro answers, and
 * messages to text. The form values `creq`, `cres` and `threeDSMethodData` are JSON in base64url.
 */
import { Buffer } from "node:buffer";
import { findJsonFault, isJsonObject, type JsonObject, parseJson } from "../shared/json.ts";
import { type CheckContext, checkElements, isUrl, isUuid } from "./checks.ts";
import {
  type Emv3dsMessage,
  type ErrorCode,
  isMessageType,
  isProtocolVersion,
  MessageFault,
  type MessageType,
  type ProtocolVersion,
  protocolVersions,
  type Received,
  textOf,
} from "./message.ts";
import { tables } from "./tables.ts";

export type Expectation = {
  /**
   * The accepted types. Others are refused with 101. A caller that may receive an `Erro` must list
   * it.
   */
  readonly types: readonly MessageType[];
  /** The message that this one answers, such as the AReq of an ARes. */
  readonly request?: Emv3dsMessage;
  /** The supported versions, by default all three. */
  readonly supported?: readonly ProtocolVersion[];
  /** Whether plain http URLs are accepted as well, for a staging system on loopback. */
  readonly allowHttp?: boolean;
  /** Ids of critical message extensions that the caller understands. */
  readonly extensions?: readonly string[];
};

/**
 * The longest message. Only a PRes is ever large, because it may list every card range of a
 * network.
 */
const lengthMax = 512 * 1024;
const lengthMaxOfRanges = 256 * 1024 * 1024;
const formLengthMax = 1024 * 1024;
const depthMax = 32;

export function readMessage(text: string, expectation: Expectation): Emv3dsMessage | MessageFault {
  const limit = expectation.types.includes("PRes") ? lengthMaxOfRanges : lengthMax;
  if (text.length > limit) return new MessageFault("101", [], "message is too long");
  const elements = parseElements(text);
  return elements instanceof MessageFault ? elements : checkMessage(elements, expectation);
}

/** Writes a message. Throws if it breaks its table, because that is an error of the caller. */
export function writeMessage(
  message: Emv3dsMessage,
  options: Omit<Expectation, "types"> = {},
): string {
  const text = JSON.stringify(message);
  const read = readMessage(text, { ...options, types: [message.messageType] });
  if (read instanceof MessageFault) {
    throw new Error(`our own ${message.messageType} is wrong: ${read.code} ${read.detail}`);
  }
  return text;
}

/** Encodes in base64url without padding. A string must be JSON that is already written. */
export function encodeFormValue(content: string | object): string {
  const text = typeof content === "string" ? content : JSON.stringify(content);
  return Buffer.from(text).toString("base64url");
}

/**
 * Returns the JSON text. Both base64 alphabets are accepted, padded or not, because senders differ.
 * A `+` that a form turned into a space is restored, and line breaks are dropped.
 */
export function decodeFormValue(value: string): string | MessageFault {
  if (value.length > formLengthMax) return new MessageFault("101", [], "form value is too long");
  const encoded = value
    .replaceAll(/[\r\n]/g, "")
    .replaceAll(" ", "+")
    .replace(/={1,2}$/, "");
  const isBase64 = /^[A-Za-z0-9+/_-]+$/.test(encoded) && encoded.length % 4 !== 1;
  if (!isBase64) return new MessageFault("101", [], "form value is not base64url");
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.from(encoded, "base64url"));
  } catch {
    return new MessageFault("101", [], "form value is not UTF-8");
  }
}

/** Decodes the form value `threeDSMethodData`, which the ACS returns without the URL. */
export function decodeMethodData(
  value: string,
  { allowHttp = false }: { readonly allowHttp?: boolean } = {},
) {
  const json = decodeFormValue(value);
  if (json instanceof MessageFault) return json;
  const elements = parseElements(json);
  if (elements instanceof MessageFault) return elements;

  const threeDSServerTransID = textOf(elements, "threeDSServerTransID") ?? "";
  if (threeDSServerTransID === "") return new MessageFault("201", ["threeDSServerTransID"]);
  if (!isUuid(threeDSServerTransID)) return new MessageFault("203", ["threeDSServerTransID"]);
  if (elements.threeDSMethodNotificationURL === undefined) return { threeDSServerTransID };
  const address = textOf(elements, "threeDSMethodNotificationURL") ?? "";
  return isUrl(address, 2048, allowHttp)
    ? { threeDSServerTransID, threeDSMethodNotificationURL: address }
    : new MessageFault("203", ["threeDSMethodNotificationURL"]);
}

function parseElements(text: string): JsonObject | MessageFault {
  const value = parseJson(text);
  if (value === undefined) return new MessageFault("101", [], "not JSON");
  const fault = findJsonFault(text, depthMax);
  if (fault?.reason === "too_deep") return new MessageFault("101", [], "JSON is nested too deeply");
  if (fault !== undefined) return new MessageFault("204", [fault.path.map(nameable).join(".")]);
  if (!isJsonObject(value)) return new MessageFault("101", [], "not a JSON object");
  // An element `__proto__`, which an escape may hide, must not become the prototype of a copy.
  if (!/__proto__|\\u/.test(text)) return value;
  return JSON.parse(text, (name, element) => (name === "__proto__" ? undefined : element));
}

/**
 * Returns a name that may be logged. A name that the sender invented may contain anything, even a
 * card number.
 */
function nameable(name: string): string {
  return /^[A-Za-z]\w{0,63}$/.test(name) && !/\d{7}/.test(name) ? name : "unnamed";
}

function checkMessage(elements: JsonObject, expectation: Expectation) {
  const { messageType, messageVersion } = elements;
  const fault = (code: ErrorCode, names: readonly string[], detail?: string) =>
    new MessageFault(code, names, detail, readReceived(elements));

  if (!isMessageType(messageType)) return fault("101", ["messageType"], "unknown message type");
  if (!expectation.types.includes(messageType)) {
    return fault("101", ["messageType"], `${messageType} is not expected here`);
  }
  if (messageVersion === undefined || messageVersion === null || messageVersion === "") {
    return fault("201", ["messageVersion"]);
  }
  if (typeof messageVersion !== "string") return fault("203", ["messageVersion"]);
  const supported = expectation.supported ?? protocolVersions;
  if (!isProtocolVersion(messageVersion) || !supported.includes(messageVersion)) {
    return fault("102", ["messageVersion"], supported.join(","));
  }
  const message: Emv3dsMessage = { ...elements, messageType, messageVersion };
  const [code, names] = findFaults(message, messageVersion, expectation) ?? [];
  return code === undefined || names === undefined ? message : fault(code, [...names]);
}

/**
 * The order of the codes. An Erro has room for one: missing elements come first, then malformed
 * ones.
 */
const codesByPriority: readonly ErrorCode[] = ["201", "203", "207", "202", "304", "205", "301"];

function findFaults(message: Emv3dsMessage, version: ProtocolVersion, expectation: Expectation) {
  const found = new Map<ErrorCode, Set<string>>(codesByPriority.map((code) => [code, new Set()]));
  const { request, allowHttp = false, extensions = [] } = expectation;
  const report: CheckContext["report"] = (code, element) => found.get(code)?.add(element);
  const options = { request, version, allowHttp, extensions, report };
  const { messageType } = message;

  checkElements(tables[messageType], message, { path: "", own: message, message, ...options });
  // Overlapping ranges are a fault from 2.3.1 on. In older versions, networks send them.
  const forbidsOverlap = messageType === "PRes" && version === "2.3.1";
  if (forbidsOverlap && hasOverlap(readCardRanges(message))) report("205", "cardRangeData");
  if (request !== undefined) {
    // An Erro may omit the id and have another version, which can be its very reason.
    const id = textOf(message, "threeDSServerTransID")?.toLowerCase();
    const isOtherId = id !== textOf(request, "threeDSServerTransID")?.toLowerCase();
    if (isOtherId && id !== undefined) report("301", "threeDSServerTransID");
    const isOtherVersion = message.messageVersion !== request.messageVersion;
    if (isOtherVersion && messageType !== "Erro") report("203", "messageVersion");
  }
  return [...found].find(([, names]) => names.size > 0);
}

function readReceived(elements: JsonObject): Received {
  const { messageType } = elements;
  const version = textOf(elements, "messageVersion") ?? "";
  const ids = ["threeDSServerTransID", "dsTransID", "acsTransID"]
    .map((name) => [name, textOf(elements, name) ?? ""] as const)
    .filter(([, id]) => isUuid(id));
  return {
    ...(isMessageType(messageType) && { messageType }),
    ...(/^[0-9.]{5,8}$/.test(version) && { messageVersion: version }),
    ...Object.fromEntries(ids),
  };
}

type CardRange = ReturnType<typeof readCardRanges>[number];

/** Reads the ranges of a PRes that `readMessage` accepted. */
export function readCardRanges(pres: Emv3dsMessage) {
  return listOf(pres.cardRangeData).flatMap((range) => {
    const indicator = textOf(range, "actionInd");
    // The actions are add, delete and modify. A range without an indicator is added.
    const action = indicator === "D" || indicator === "M" ? indicator : "A";
    const versions = readVersions(range, pres);
    const spans = Array.isArray(range.ranges)
      ? listOf(range.ranges).map((span) => [textOf(span, "start"), textOf(span, "end")])
      : [[textOf(range, "startRange"), textOf(range, "endRange")]];
    return spans.flatMap(([start, end]) =>
      start === undefined || end === undefined ? [] : [{ start, end, action, versions }],
    );
  });
}

/**
 * Returns whether two ranges of one card number length share a number. Deleted ranges do not count.
 */
export function hasOverlap(ranges: readonly CardRange[]): boolean {
  // The length comes first, so that numbers of another length never lie between two of the same
  // length.
  const keyOf = (cardNumber: string) => `${cardNumber.length} ${cardNumber}`;
  const kept = ranges.filter(({ action }) => action !== "D");
  const keyed = kept.map(({ start, end }) => ({ start: keyOf(start), end: keyOf(end) }));
  keyed.sort((one, other) => (one.start < other.start ? -1 : 1));
  return keyed.some(({ start }, at) => at > 0 && start <= (keyed[at - 1]?.end ?? ""));
}

/**
 * Returns the versions that ACS, directory server and this codec all support, in ascending order.
 * Up to 2.2.0 the ACS names its first and last version. From 2.3.1 on it lists its versions, each
 * with a method URL.
 */
function readVersions(range: JsonObject, pres: JsonObject) {
  const acsStart = textOf(range, "acsStartProtocolVersion");
  const acsEnd = textOf(range, "acsEndProtocolVersion");
  const listed = Array.isArray(range.ranges) ? listOf(range.acsProtocolVersions) : undefined;
  return protocolVersions.flatMap((version) => {
    const isNamed = listed === undefined && isBetween(acsStart, version, acsEnd);
    const acs = isNamed ? range : listed?.find((one) => textOf(one, "version") === version);
    if (acs === undefined || !isSupportedByDs(version, range, pres)) return [];
    return [{ version, methodUrl: textOf(acs, "threeDSMethodURL") }];
  });
}

/**
 * Returns whether the directory server supports the version. A range overrides the message. If
 * neither restricts versions, all are supported.
 */
function isSupportedByDs(version: string, range: JsonObject, pres: JsonObject): boolean {
  const listed = [range.dsProtocolVersions, pres.dsProtocolVersions].find(Array.isArray);
  if (listed !== undefined) return listed.includes(version);
  const find = (element: string) => textOf(range, element) ?? textOf(pres, element) ?? version;
  return isBetween(find("dsStartProtocolVersion"), version, find("dsEndProtocolVersion"));
}

/** Compares versions by number and not by letter, because 2.10.0 is newer than 2.3.1. */
function isBetween(start: string | undefined, version: string, end: string | undefined): boolean {
  const rankOf = (each: string) =>
    each.split(".").reduce((sum, part) => sum * 1000 + Number(part), 0);
  if (start === undefined || end === undefined) return false;
  return rankOf(start) <= rankOf(version) && rankOf(version) <= rankOf(end);
}

function listOf(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}
