/** The sample messages in `vectors/`, typed for the tests. ISO 8583:1987, payloads only. */
import { readFileSync } from "node:fs";
import {
  type IsoFields,
  iso87Ascii,
  iso87BinaryLeft,
  iso87BinaryRight,
  type Specification,
} from "./index.ts";

export type SpecificationName = "iso87-ascii" | "iso87-binary-left" | "iso87-binary-right";

export const specifications: Record<SpecificationName, Specification> = {
  "iso87-ascii": iso87Ascii,
  "iso87-binary-left": iso87BinaryLeft,
  "iso87-binary-right": iso87BinaryRight,
};

type Sample = { readonly id: string; readonly spec: SpecificationName; readonly hex: string };

type Samples = {
  readonly specs: Record<SpecificationName, Layout>;
  readonly good: readonly (Sample & { readonly mti: string; readonly fields: IsoFields })[];
  readonly broken: readonly (Sample & { readonly reason: string })[];
};

type Layout = {
  readonly mtiEncoding: string;
  readonly bitmapEncoding: string;
  readonly fields: readonly LayoutRow[];
};

export type LayoutRow = {
  readonly field: number;
  readonly lengthBytes: number;
  readonly dataEncoding: string;
};

export const samples: Samples = JSON.parse(
  readFileSync(new URL("./vectors/samples.json", import.meta.url), "utf8"),
);
