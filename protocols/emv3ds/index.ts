/**
 * EMV 3-D Secure 2.1.0, 2.2.0 and 2.3.1 as a pure codec: tables say what a message holds, and the
 * same tables check incoming and outgoing messages. Faults name elements, never their values.
 */
export { readCardRanges } from "./card-range.ts";
export {
  decodeFormValue,
  decodeMethodData,
  type Expectation,
  encodeFormValue,
  readMessage,
  writeMessage,
} from "./codec.ts";
export {
  type Emv3dsMessage,
  isProtocolVersion,
  MessageFault,
  type MessageType,
  makeErro,
  messageTypes,
  type ProtocolVersion,
  protocolVersions,
  type Received,
  textOf,
} from "./message.ts";
