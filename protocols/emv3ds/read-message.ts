/** A text becomes a message that its table accepts, or the fault that an Erro can answer with. */
import { hasOverlap, readCardRanges } from "./card-range.ts";
import { isUuid } from "./checks.ts";
import { parseJson } from "./json.ts";
import {
  type ErrorCode,
  type Fields,
  isFields,
  isMessageType,
  isVersion,
  type Message,
  type MessageType,
  textOf,
  type Version,
  versions,
} from "./message.ts";
import { MessageFault, type Received } from "./message-fault.ts";
import { type Place, walk } from "./rows.ts";
import { tables } from "./tables/tables.ts";

export type Expectation = {
  /** Whatever else arrives is refused with 101; list `Erro` where one may come instead. */
  readonly types: readonly MessageType[];
  /** The message that this one answers, above all the AReq of an ARes. */
  readonly request?: Message;
  /** All three unless told otherwise. */
  readonly supported?: readonly Version[];
  /** Take plain http addresses as well, for a staging system on loopback. */
  readonly allowHttp?: boolean;
  /** Ids of message extensions that may be critical because the caller understands them. */
  readonly extensions?: readonly string[];
};

/** Only a PRes is ever large: it may list every card range of a network. */
const lengthMax = 512 * 1024;
const lengthMaxOfRanges = 64 * 1024 * 1024;

export function readMessage(text: string, expectation: Expectation): Message | MessageFault {
  const limit = expectation.types.includes("PRes") ? lengthMaxOfRanges : lengthMax;
  if (text.length > limit) return new MessageFault("101", [], "message is too long");
  const fields = parseJson(text);
  if (fields instanceof MessageFault) return fields;
  if (!isFields(fields)) return new MessageFault("101", [], "not a JSON object");
  return checkMessage(fields, expectation);
}

function checkMessage(fields: Fields, expectation: Expectation): Message | MessageFault {
  const { messageType, messageVersion } = fields;
  const fault = (code: ErrorCode, elements: readonly string[], detail?: string) =>
    new MessageFault(code, elements, detail, tellReceived(fields));

  if (!isMessageType(messageType)) return fault("101", ["messageType"], "unknown message type");
  if (!expectation.types.includes(messageType)) {
    return fault("101", ["messageType"], `${messageType} is not expected here`);
  }
  if (messageVersion === undefined || messageVersion === null || messageVersion === "") {
    return fault("201", ["messageVersion"]);
  }
  if (typeof messageVersion !== "string") return fault("203", ["messageVersion"]);
  const supported = expectation.supported ?? versions;
  if (!isVersion(messageVersion) || !supported.includes(messageVersion)) {
    return fault("102", ["messageVersion"], supported.join(","));
  }
  const message: Message = { ...fields, messageType, messageVersion };
  const [code, elements] = findFaults(message, messageVersion, expectation) ?? [];
  return code === undefined || elements === undefined ? message : fault(code, [...elements]);
}

/** An Erro has room for one code: what is missing comes first, then what is malformed. */
const codesByWeight: readonly ErrorCode[] = ["201", "203", "207", "202", "304", "205", "301"];

function findFaults(message: Message, version: Version, expectation: Expectation) {
  const found = new Map<ErrorCode, Set<string>>(codesByWeight.map((code) => [code, new Set()]));
  const { request, allowHttp = false, extensions = [] } = expectation;
  const report: Place["report"] = (code, element) => found.get(code)?.add(element);
  const place = {
    path: "",
    own: message,
    message,
    request,
    version,
    allowHttp,
    extensions,
    report,
  };

  walk(tables[message.messageType], message, place);
  // Overlapping ranges are a fault from 2.3.1 on; before, networks send them.
  const forbidsOverlap = message.messageType === "PRes" && version === "2.3.1";
  if (forbidsOverlap && hasOverlap(readCardRanges(message))) report("205", "cardRangeData");
  if (request !== undefined) compareWithRequest(message, request, report);
  return [...found].find(([, elements]) => elements.size > 0);
}

/** An Erro may leave the id out and may speak another version: that can be its very reason. */
function compareWithRequest(message: Message, request: Message, report: Place["report"]): void {
  const id = textOf(message, "threeDSServerTransID");
  const expected = textOf(request, "threeDSServerTransID");
  const isOtherId = id?.toLowerCase() !== expected?.toLowerCase();
  if (isOtherId && id !== undefined) report("301", "threeDSServerTransID");
  const isOtherVersion = message.messageVersion !== request.messageVersion;
  if (isOtherVersion && message.messageType !== "Erro") report("203", "messageVersion");
}

function tellReceived(fields: Fields): Received {
  const { messageType } = fields;
  const version = textOf(fields, "messageVersion") ?? "";
  return {
    ...(isMessageType(messageType) && { messageType }),
    ...(/^[0-9.]{5,8}$/.test(version) && { messageVersion: version }),
    ...tellId(fields, "threeDSServerTransID"),
    ...tellId(fields, "dsTransID"),
    ...tellId(fields, "acsTransID"),
  };
}

function tellId(fields: Fields, field: string): Received {
  const id = textOf(fields, field) ?? "";
  return isUuid(id) ? { [field]: id } : {};
}
