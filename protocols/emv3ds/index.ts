/**
 * EMV 3-D Secure 2.1.0, 2.2.0 and 2.3.1 as a pure codec: tables say what a message holds, and the
 * same tables check what comes in and what goes out. Faults name elements, never their values.
 */
export { type CardRange, coversCard, type RangeVersion, readCardRanges } from "./card-range.ts";
export { type ErroDetails, makeErro } from "./erro.ts";
export {
  packForm,
  packForm as encodeFormValue,
  unpackForm,
  unpackForm as decodeFormValue,
} from "./form.ts";
export {
  type ErrorCode,
  isVersion,
  isVersion as isProtocolVersion,
  type Message,
  type Message as Emv3dsMessage,
  type MessageType,
  messageTypes,
  textOf,
  type Version,
  type Version as ProtocolVersion,
  versions,
  versions as protocolVersions,
} from "./message.ts";
export { MessageFault, type Received } from "./message-fault.ts";
export { type Expectation, readMessage } from "./read-message.ts";
export {
  type MethodForm as MethodData,
  packMethod as encodeMethodData,
  packMethod as packMethodData,
  readMethod as decodeMethodData,
  readMethod as readMethodData,
} from "./three-ds-method.ts";
export { type WriteOptions, writeMessage } from "./write-message.ts";
