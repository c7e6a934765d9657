/** Every operation of the merchant interface. Adding one is a file and a line here. */
import type { Operation } from "../operation.ts";
import { accountVerification } from "./account-verification.ts";
import { capture } from "./capture.ts";
import { preauth } from "./preauth.ts";
import { returnMoney } from "./return.ts";
import { sale } from "./sale.ts";
import { status } from "./status.ts";

export const operations: readonly Operation[] = [
  sale,
  preauth,
  capture,
  returnMoney,
  accountVerification,
  status,
];
