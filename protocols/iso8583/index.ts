/**
 * ISO 8583 messages: a specification table turns a message into bytes and back. What encode writes
 * decode reads back; what decode tolerates beyond that is one list.
 */
export * from "./decode.ts";
export { describe } from "./describe.ts";
export * from "./encode.ts";
export * from "./framing.ts";
export * from "./iso93.ts";
export * from "./key-blocks.ts";
export * from "./mac.ts";
export { dumpMasked } from "./masked-bytes.ts";
export * from "./message.ts";
export type { Composite, FieldName, FieldRow, Specification } from "./specification.ts";
export * from "./specifications.ts";
export * from "./subfields.ts";
