/**
 * ISO 8583:1987 messages: a specification table turns a message into bytes and back. The codec is
 * strict both ways: decode takes exactly the payloads that encode can write.
 */
export { readComposite, writeComposite } from "./composite.ts";
export { decode } from "./decode.ts";
export { DecodeFault, type DecodeField, type DecodeReason, type Subfield } from "./decode-fault.ts";
export { describe } from "./describe.ts";
export { encode } from "./encode.ts";
export { FrameFault, FrameReader, type Framing, frame } from "./framing.ts";
export {
  type Fields,
  type Fields as IsoFields,
  isRequest,
  type Message,
  type Message as IsoMessage,
  responseMti,
} from "./message.ts";
export {
  type OriginalData,
  originalData,
  originalData as writeOriginalData,
  parseOriginalData,
  parseOriginalData as readOriginalData,
} from "./original-data.ts";
export { type PositionRow, type Positions, readPositions, writePositions } from "./positions.ts";
export type { Composite, Row, Specification } from "./specification.ts";
export { iso87Ascii } from "./specifications/iso87-ascii.ts";
export { iso87BinaryLeft, iso87BinaryRight } from "./specifications/iso87-binary.ts";
export {
  cardholder63,
  iso87Bitmapped,
  payment62,
  pointOfService60,
  security126,
} from "./specifications/iso87-bitmapped.ts";
export { readSubelements, type Subelements, writeSubelements } from "./subelements.ts";
