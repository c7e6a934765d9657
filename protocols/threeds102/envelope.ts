/**
 * What stands around every message: the root, `Message` with its id, and inside the message the
 * version and extensions.
 */
import assert from "node:assert/strict";
import type { MessageKind } from "./messages.ts";
import { parseXml, type XmlElement } from "./parse-xml.ts";
import { identifier, tables } from "./tables.ts";
import { ThreeDsFault } from "./threeds-fault.ts";
import { readRows, type Tree, writeRows } from "./walk-rows.ts";

const version = "1.0.2";

export type Envelope = {
  readonly messageId: string;
  readonly kind: MessageKind;
  readonly message: XmlElement;
  /** Whatever follows the message inside `Message`: a PARes may have its signature there. */
  readonly followers: readonly XmlElement[];
  readonly root: XmlElement;
};

export function openEnvelope(xml: string): Envelope | ThreeDsFault {
  const root = parseXml(xml);
  if (root instanceof ThreeDsFault) return root;
  if (root.name !== "ThreeDSecure") return new ThreeDsFault("other_root");

  const [wrapper, ...others] = root.children;
  if (wrapper === undefined) return new ThreeDsFault("missing_element", "Message");
  if (wrapper.name !== "Message") return new ThreeDsFault("other_message");
  if (others.length > 0) return new ThreeDsFault("repeated_element", "Message");
  const messageId = readId(wrapper, "Message");
  if (messageId instanceof ThreeDsFault) return messageId;

  const [message, ...followers] = wrapper.children;
  if (message === undefined) return new ThreeDsFault("other_message");
  const { name: kind } = message;
  if (!isKind(kind)) return new ThreeDsFault("other_message");
  if (kind !== "PARes" && followers.length > 0) return new ThreeDsFault("repeated_element", kind);
  return { messageId, kind, message, followers, root };
}

/** The content of a message; `PARes` alone has an attribute, and its reader asks for it. */
export function readMessage(kind: MessageKind, message: XmlElement): Tree | ThreeDsFault {
  const elements: XmlElement[] = [];
  const versions: XmlElement[] = [];
  for (const child of message.children) {
    if (child.name === "version") versions.push(child);
    else if (child.name !== "Extension") elements.push(child);
    else if (child.attributes.get("critical") !== "false") {
      return new ThreeDsFault("unknown_critical_extension", `${kind}/Extension`);
    }
  }
  const place = `${kind}/version`;
  const [first, second] = versions;
  if (first === undefined) return new ThreeDsFault("missing_element", place);
  if (second !== undefined) return new ThreeDsFault("repeated_element", place);
  if (first.text !== version) return new ThreeDsFault("other_version", place);
  return readRows(tables[kind], elements, kind);
}

/** Of `Message` or `PARes`, which may declare namespaces beside it and nothing else. */
export function readId(element: XmlElement, place: string): string | ThreeDsFault {
  const id = element.attributes.get("id");
  if (id === undefined) return new ThreeDsFault("missing_element", `${place}/id`);
  if (!identifier.test(id)) return new ThreeDsFault("malformed_element", `${place}/id`);
  const strange = [...element.attributes.keys()].some((key) => key !== "id" && !isNamespace(key));
  return strange ? new ThreeDsFault("malformed_element", place) : id;
}

export function writeEnvelope(messageId: string, content: string): string {
  const id = checkIdentifier(messageId, "Message");
  const message = `<Message id="${id}">${content}</Message>`;
  return `<?xml version="1.0" encoding="UTF-8"?><ThreeDSecure>${message}</ThreeDSecure>`;
}

export function writeMessage(kind: MessageKind, tree: Tree, id?: string): string {
  const attribute = id === undefined ? "" : ` id="${checkIdentifier(id, kind)}"`;
  const content = `<version>${version}</version>${writeRows(tables[kind], tree, kind)}`;
  return `<${kind}${attribute}>${content}</${kind}>`;
}

function checkIdentifier(id: string, place: string): string {
  if (!identifier.test(id)) assert.fail(`${place}/id does not fit`);
  return id;
}

function isNamespace(attribute: string): boolean {
  return attribute === "xmlns" || attribute.startsWith("xmlns:");
}

function isKind(name: string): name is MessageKind {
  return Object.hasOwn(tables, name);
}
