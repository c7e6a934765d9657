/**
 * ISO 8583:1987 messages: a specification table turns a message into bytes and back. The codec is
 * strict both ways: decode accepts exactly the payloads that encode can write.
 */
export * from "./codec.ts";
export { describe } from "./describe.ts";
export * from "./framing.ts";
export type { Composite, FieldName, FieldRow, Specification } from "./specification.ts";
export * from "./specifications.ts";
export * from "./subfields.ts";
