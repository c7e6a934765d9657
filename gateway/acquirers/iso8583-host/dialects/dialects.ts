/** The dialect of every kind of gate. */
import type { GateKind } from "../../gate.ts";
import type { Dialect } from "../dialect.ts";
import { iso87Binary } from "./iso87-binary.ts";
import { sandbox } from "./sandbox.ts";

export const dialects: Readonly<Record<GateKind, Dialect>> = {
  sandbox,
  iso87_binary: iso87Binary,
};
