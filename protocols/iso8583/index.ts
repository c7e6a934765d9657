/**
 * ISO 8583:1987 messages: a specification table turns a message into bytes and back. The codec is
 * strict both ways: decode accepts exactly the payloads that encode can write.
 */
export {
  DecodeFault,
  type DecodeReason,
  decode,
  encode,
  type IsoFields,
  type IsoMessage,
  readComposite,
  responseMti,
  writeComposite,
} from "./codec.ts";
export { describe } from "./describe.ts";
export { FrameFault, FrameReader, type Framing, frame } from "./framing.ts";
export type { Composite, FieldName, FieldRow, Specification } from "./specification.ts";
export * from "./specifications.ts";
export {
  type OriginalData,
  type Positions,
  readPositions,
  readSubelements,
  type Subelements,
  writeOriginalData,
  writePositions,
  writeSubelements,
} from "./subfields.ts";
