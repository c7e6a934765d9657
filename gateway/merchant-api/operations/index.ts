/** Every operation of the merchant interface. A new one is a file and a line here. */
import type { Operation } from "../operation.ts";
import { accountVerification } from "./account-verification.ts";
import { capture } from "./capture.ts";
import { cardInformation } from "./card-information.ts";
import { createCardRefV2, createCardRefV4 } from "./create-card-ref.ts";
import { makeRebill, makeRebillPreauth, makeRebillSale } from "./make-rebill.ts";
import { preauth } from "./preauth.ts";
import { returnMoney } from "./return.ts";
import { sale } from "./sale.ts";
import { status } from "./status.ts";
import { uploadCresResult } from "./upload-cres-result.ts";
import { uploadMethodUrlResult } from "./upload-method-url-result.ts";
import { uploadParesResult } from "./upload-pares-result.ts";

export const operations: readonly Operation[] = [
  sale,
  preauth,
  capture,
  returnMoney,
  accountVerification,
  createCardRefV2,
  createCardRefV4,
  cardInformation,
  makeRebill,
  makeRebillSale,
  makeRebillPreauth,
  status,
  uploadMethodUrlResult,
  uploadCresResult,
  uploadParesResult,
];
