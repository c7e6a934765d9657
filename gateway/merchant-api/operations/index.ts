/** Every operation of the merchant interface. Adding one is a file and a line here. */
import type { Operation } from "../operation.ts";
import { sale } from "./sale.ts";
import { status } from "./status.ts";

export const operations: readonly Operation[] = [sale, status];
