/**
 * A dialect of ISO 8583:1987 is a table: one row per field, each column chosen freely from the
 * small parts in `parts/`. A new bank is a new table, not new code.
 */
import type { Content } from "./parts/content.ts";
import type { EncodingName } from "./parts/encoding.ts";
import type { PaddingName } from "./parts/padding.ts";
import type { PrefixName } from "./parts/prefix.ts";

export type Specification = {
  readonly mti: EncodingName;
  readonly bitmap: EncodingName;
  readonly oddDigits: PaddingName;
  readonly rows: readonly Row[];
  /** The private fields whose bytes are sub-fields behind a bitmap of their own. */
  readonly composites?: readonly Composite[];
};

/** The rows number sub-fields, from 1 to 64: this bitmap has no second one. */
export type Composite = {
  readonly field: number;
  readonly oddDigits: PaddingName;
  readonly rows: readonly Row[];
};

/** The longest length is in units of the encoding: characters, digits or bytes. */
export type Row<Field = number> = readonly [
  field: Field,
  name: string,
  content: Content,
  prefix: PrefixName,
  lengthMax: number,
  encoding: EncodingName,
];
