/** The Erro that answers a fault. An Erro itself is never answered: look at `received` first. */
import type { ErrorCode, Message, Version } from "./message.ts";
import type { MessageFault } from "./message-fault.ts";

export type ErroDetails = {
  /** Who speaks: 3DS SDK (C), 3DS Server (S), directory server (D) or ACS (A). */
  readonly component: "C" | "S" | "D" | "A";
  readonly version: Version;
  /** Ids left out are taken from what was received, where they were readable. */
  readonly threeDSServerTransID?: string;
  readonly dsTransID?: string;
  readonly acsTransID?: string;
};

const detailLengthMax = 2048;

export function makeErro(fault: MessageFault, details: ErroDetails): Message {
  const { component, version, ...ids } = details;
  const { messageType, messageVersion, ...received } = fault.received;
  const description = descriptions[fault.code];
  return {
    ...received,
    ...ids,
    errorCode: fault.code,
    errorComponent: component,
    errorDescription: description,
    errorDetail: fault.detail.slice(0, detailLengthMax) || description,
    ...(messageType !== undefined && { errorMessageType: messageType }),
    messageType: "Erro",
    messageVersion: version,
  };
}

// biome-ignore format: a table
const descriptions: Readonly<Record<ErrorCode, string>> = {
  "101": "The message is invalid, unknown or not meant for this receiver",
  "102": "The message version is not supported",
  "103": "Too many preparation requests",
  "201": "A required element is missing",
  "202": "A critical message extension is not known",
  "203": "An element has an invalid format or value",
  "204": "An element is given more than once",
  "205": "Card ranges overlap",
  "206": "The action for a card range is not possible",
  "207": "A reserved value is used",
  "301": "The transaction is not known",
  "302": "The message could not be decrypted",
  "303": "Access is denied",
  "304": "An ISO code is not valid",
  "305": "The transaction is not valid",
  "306": "The merchant category code is not valid",
  "307": "The serial number is not valid",
  "308": "The signature is not valid",
  "309": "The content security policy is not valid",
  "310": "The algorithm is not valid",
  "311": "The key is not known",
  "312": "The message was received before",
  "313": "A result came without a challenge",
  "314": "A challenge request may not be repeated",
  "315": "A challenge request was repeated with a difference",
  "402": "The transaction timed out",
  "403": "The system fails for the moment",
  "404": "The system fails permanently",
  "405": "The connection failed",
};
