/** A message becomes JSON text, after the tables have agreed with it. */
import type { Message } from "./message.ts";
import { MessageFault } from "./message-fault.ts";
import { type Expectation, readMessage } from "./read-message.ts";

export type WriteOptions = Pick<Expectation, "request" | "allowHttp" | "extensions">;

/** Throws when the message breaks its table: ours to repair, not the receiver's to find. */
export function writeMessage(message: Message, options: WriteOptions = {}): string {
  const text = JSON.stringify(message);
  const read = readMessage(text, { ...options, types: [message.messageType] });
  if (read instanceof MessageFault) {
    throw new Error(`our own ${message.messageType} is wrong: ${read.code} ${read.detail}`);
  }
  return text;
}
