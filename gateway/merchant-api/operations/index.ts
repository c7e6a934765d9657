/** Every operation of the merchant interface. A new one is a definition and a line here. */
import type { Operation } from "../operation.ts";
import { cardInformation } from "./card-information.ts";
import { createCardRefV2, createCardRefV4 } from "./create-card-ref.ts";
import { capture, returnMoney } from "./follow-ups.ts";
import { makeRebill, makeRebillPreauth, makeRebillSale } from "./make-rebill.ts";
import { accountVerification, preauth, sale } from "./sale.ts";
import { status } from "./status.ts";
import { uploadCresResult, uploadMethodUrlResult, uploadParesResult } from "./threeds-uploads.ts";

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
