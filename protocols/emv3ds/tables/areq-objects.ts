/** The objects inside an AReq. */
import {
  anyObject,
  codes,
  currency,
  digits,
  either,
  emailAddress,
  moment,
  text,
  uuid,
} from "../checks.ts";
import { no, O, R, type Row } from "../rows.ts";

// biome-ignore format: a table
export const phoneRows: readonly Row[] = [
  // element     value          2.1.0 2.2.0 2.3.1
  ["cc",         digits(1, 3),  R, R, R],
  ["subscriber", digits(1, 15), R, R, R],
];

// biome-ignore format: a table
export const recurringRows: readonly Row[] = [
  ["amountInd",    codes("01", "02"), no, no, R],
  ["frequencyInd", codes("01", "02"), no, no, R],
];

// biome-ignore format: a table
export const accountRows: readonly Row[] = [
  ["chAccAgeInd",           codes("01-05"),    O, O, O],
  ["chAccChange",           moment(8),         O, O, O],
  ["chAccChangeInd",        codes("01-04"),    O, O, O],
  ["chAccDate",             moment(8),         O, O, O],
  ["chAccPwChange",         moment(8),         O, O, O],
  ["chAccPwChangeInd",      codes("01-05"),    O, O, O],
  ["nbPurchaseAccount",     digits(1, 4),      O, O, O],
  ["paymentAccAge",         moment(8),         O, O, O],
  ["paymentAccInd",         codes("01-05"),    O, O, O],
  ["provisionAttemptsDay",  digits(1, 3),      O, O, O],
  ["shipAddressUsage",      moment(8),         O, O, O],
  ["shipAddressUsageInd",   codes("01-04"),    O, O, O],
  ["shipNameIndicator",     codes("01", "02"), O, O, O],
  ["suspiciousAccActivity", codes("01", "02"), O, O, O],
  ["txnActivityDay",        digits(1, 3),      O, O, O],
  ["txnActivityYear",       digits(1, 3),      O, O, O],
];

// biome-ignore format: a table
export const riskRows: readonly Row[] = [
  ["deliveryEmailAddress", emailAddress,            O,  O,  O],
  ["deliveryTimeframe",    codes("01-04"),          O,  O,  O],
  ["giftCardAmount",       digits(1, 15),           O,  O,  O],
  ["giftCardCount",        digits(2, 2),            O,  O,  O],
  ["giftCardCurr",         currency,                O,  O,  O],
  ["preOrderDate",         moment(8),               O,  O,  O],
  ["preOrderPurchaseInd",  codes("01", "02"),       O,  O,  O],
  ["reorderItemsInd",      codes("01", "02"),       O,  O,  O],
  ["shipIndicator",        codes("01-07", "80-99"), O,  O,  no],
  ["shipIndicator",        codes("01-09", "80-99"), no, no, O],
];

// biome-ignore format: a table
export const authenticationRows: readonly Row[] = [
  ["threeDSReqAuthMethod",    codes("01-06", "80-99"),           O,  no, no],
  ["threeDSReqAuthMethod",    codes("01-09", "80-99"),           no, O,  no],
  ["threeDSReqAuthMethod",    codes("01-11", "80-99"),           no, no, O],
  ["threeDSReqAuthTimestamp", moment(12),                        O,  O,  O],
  ["threeDSReqAuthData",      text(1, 20000),                    O,  O,  no],
  ["threeDSReqAuthData",      either(text(1, 20000), anyObject), no, no, O],
];

// biome-ignore format: a table
export const priorAuthenticationRows: readonly Row[] = [
  ["threeDSReqPriorRef",           uuid,                    O,  O,  O],
  ["threeDSReqPriorAuthMethod",    codes("01-04", "80-99"), O,  O,  no],
  ["threeDSReqPriorAuthMethod",    codes("01-05", "80-99"), no, no, O],
  ["threeDSReqPriorAuthTimestamp", moment(12),              O,  O,  O],
  ["threeDSReqPriorAuthData",      text(1, 2048),           O,  O,  O],
];
