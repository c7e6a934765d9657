/**
 * ISO 8583 messages. A specification table turns a message into bytes and back: decode reads what
 * encode writes, and what decode tolerates in addition is one list.
 */
export * from "./codec.ts";
export { describe, dumpMasked } from "./describe.ts";
export * from "./framing.ts";
export * from "./iso93.ts";
export * from "./key-blocks.ts";
export * from "./mac.ts";
export {
  type Composite,
  DecodeFault,
  type DecodeReason,
  type FieldName,
  type FieldRow,
  type IsoFields,
  type IsoMessage,
  responseMti,
  type Specification,
} from "./specification.ts";
export * from "./specifications.ts";
export * from "./subfields.ts";
