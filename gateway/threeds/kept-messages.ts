/**
 * Messages of 3-D Secure as an event keeps them (decision 0061), and their text, made of the kept
 * elements alone: XML in 1.0.2, JSON in later versions.
 */
import { describeMessage, type Emv3dsMessage } from "@tollgate/protocols/emv3ds";
import { describeXml, writeDescribed } from "@tollgate/protocols/threeds102";
import type { KeptMessage } from "../orders/messages.ts";
import type { Instant } from "../values/time.ts";

export function keptMessage(
  way: KeptMessage["way"],
  at: Instant,
  message: Emv3dsMessage,
): KeptMessage {
  const { messageType: type = "", ...fields } = describeMessage(message);
  return { at, way, type, fields };
}

type XmlType = "VEReq" | "VERes" | "PAReq" | "PARes";

export function keptXml(type: XmlType, way: KeptMessage["way"], at: Instant, message: object) {
  return (): readonly KeptMessage[] => [{ at, way, type, fields: describeXml(message) }];
}

/** Returns undefined for a message of another protocol. */
export function writeKept({ type, fields }: KeptMessage): string | undefined {
  if (/^(VE|PA)Re[qs]$/.test(type)) return writeDescribed(type, fields);
  return /^[A-Z]/.test(type) ? JSON.stringify(nest(type, fields), undefined, 2) : undefined;
}

/** `acctInfo.chAccAgeInd` is nested. The sender's names must not lead to inherited properties. */
function nest(messageType: string, fields: KeptMessage["fields"]): object {
  const message: Nested = Object.assign(Object.create(null), { messageType });
  for (const [path, value] of Object.entries(fields)) {
    const names = path.split(".");
    const last = names.pop() ?? "";
    let place = message;
    for (const name of names) {
      const known = place[name];
      const inner: Nested = typeof known === "object" ? known : Object.create(null);
      place[name] = inner;
      place = inner;
    }
    place[last] = value;
  }
  return message;
}

type Nested = { [name: string]: string | Nested };
