/** Every operation of the merchant interface. A new one is a definition and a line here. */
import type { Operation } from "../operation.ts";
import * as cards from "./cards.ts";
import * as forms from "./forms.ts";
import { createEphemeralTicket } from "./hosted-fields.ts";
import * as payments from "./payments.ts";
import * as payouts from "./payouts.ts";
import * as profiles from "./profiles.ts";
import { status } from "./status.ts";
import * as uploads from "./threeds-uploads.ts";

export const operations: readonly Operation[] = [
  payments.sale,
  payments.preauth,
  payments.capture,
  payments.returnMoney,
  payments.accountVerification,
  cards.createCardRefV2,
  cards.createCardRefV4,
  cards.cardInformation,
  payments.makeRebill,
  payments.makeRebillSale,
  payments.makeRebillPreauth,
  payments.voidCharge,
  payouts.payout,
  payouts.payoutByRef,
  status,
  uploads.uploadMethodUrlResult,
  uploads.uploadCresResult,
  uploads.uploadParesResult,
  cards.removeCardRef,
  forms.saleForm,
  forms.preauthForm,
  forms.accountVerificationForm,
  createEphemeralTicket,
  profiles.createRecurringPayment,
  profiles.processRecurringPayment,
  profiles.updateRecurringPayment,
  profiles.createRecurringPayments,
  profiles.processRecurringPayments,
  profiles.updateRecurringPayments,
];
