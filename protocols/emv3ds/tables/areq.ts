/** AReq, for browser payments and 3RI. Elements of the app channel are checked if present. */
import {
  anyObject,
  array,
  boolean,
  codes,
  country,
  currency,
  digits,
  emailAddress,
  ipAddress,
  matching,
  moment,
  object,
  oneOf,
  provided,
  text,
  url,
  uuid,
} from "../checks.ts";
import {
  asksDecoupled,
  hasFixedAmount,
  hasFixedFrequency,
  hasRecurringAmount,
  inBrowser,
  isAttended,
  isInstalment,
  isPayment,
  isRecurring,
  isThreeRI,
  isThreeRIKnown,
  only,
  startsInstalment,
  startsRecurring,
  within,
  withScript,
} from "../conditions.ts";
import { no, O, R, type Row, when } from "../rows.ts";
import {
  accountRows,
  authenticationRows,
  phoneRows,
  priorAuthenticationRows,
  recurringRows,
  riskRows,
} from "./areq-objects.ts";
import { extensionRows } from "./extension.ts";

const scripted = within(inBrowser, when(withScript));
const colorDepth = oneOf("1", "4", "8", "15", "16", "24", "32", "48");
const name = matching(/^[ -~]{2,45}$/);
const category = codes("01", "02", "80-99");
const trust = oneOf("Y", "N");

// biome-ignore format: a table
export const areq: readonly Row[] = [
  // element                                  value                                                    2.1.0                   2.2.0                 2.3.1
  ["threeDSServerTransID",                    uuid,                                                    R,                      R,                    R],
  ["deviceChannel",                           codes("01-03"),                                          R,                      R,                    R],
  ["messageCategory",                         provided(category, isThreeRIKnown),                      R,                      no,                   no],
  ["messageCategory",                         category,                                                no,                     R,                    R],
  ["threeDSCompInd",                          oneOf("Y", "N", "U"),                                    only(inBrowser),        only(inBrowser),      only(inBrowser)],
  ["threeDSRequestorAuthenticationInd",       codes("01-06", "80-99"),                                 only(isAttended),       only(isAttended),     no],
  ["threeDSRequestorAuthenticationInd",       codes("01-10", "80-99"),                                 no,                     no,                   only(isAttended)],
  ["threeRIInd",                              codes("01-05", "80-99"),                                 only(isThreeRI),        no,                   no],
  ["threeRIInd",                              codes("01-11", "80-99"),                                 no,                     only(isThreeRI),      no],
  ["threeRIInd",                              codes("01-19", "80-99"),                                 no,                     no,                   only(isThreeRI)],
  ["threeDSRequestorChallengeInd",            codes("01-04", "80-99"),                                 O,                      no,                   no],
  ["threeDSRequestorChallengeInd",            codes("01-09", "80-99"),                                 no,                     O,                    no],
  ["threeDSRequestorChallengeInd",            array(2, codes("01-14", "80-99")),                       no,                     no,                   O],
  ["threeDSRequestorID",                      text(1, 35),                                             R,                      R,                    R],
  ["threeDSRequestorName",                    text(1, 40),                                             R,                      R,                    R],
  ["threeDSRequestorURL",                     url(2048),                                               R,                      R,                    R],
  ["threeDSServerRefNumber",                  text(1, 32),                                             R,                      R,                    R],
  ["threeDSServerOperatorID",                 text(1, 32),                                             O,                      O,                    O],
  ["threeDSServerURL",                        url(2048),                                               when(isAttended),       R,                    R],
  ["notificationURL",                         url(256),                                                only(inBrowser),        only(inBrowser),      only(inBrowser)],

  ["acctNumber",                              digits(13, 19),                                          R,                      R,                    R],
  ["cardExpiryDate",                          matching(/^[0-9]{2}(?:0[1-9]|1[0-2])$/),                 O,                      O,                    O],
  ["cardholderName",                          name,                                                    O,                      O,                    no],
  ["cardholderName",                          text(2, 45),                                             no,                     no,                   O],
  ["acctType",                                codes("01-03", "80-99"),                                 O,                      O,                    O],
  ["acctID",                                  text(1, 64),                                             O,                      O,                    O],

  ["acquirerBIN",                             text(1, 11),                                             when(isPayment),        when(isPayment),      when(isPayment)],
  ["acquirerMerchantID",                      text(1, 35),                                             when(isPayment),        when(isPayment),      when(isPayment)],
  ["acquirerCountryCode",                     country,                                                 no,                     no,                   when(isPayment)],
  ["acquirerCountryCodeSource",               codes("01-99"),                                          no,                     no,                   when(isPayment)],
  ["mcc",                                     digits(4, 4),                                            when(isPayment),        when(isPayment),      when(isPayment)],
  ["merchantCountryCode",                     country,                                                 when(isPayment),        when(isPayment),      when(isPayment)],
  ["merchantName",                            text(1, 40),                                             when(isPayment),        when(isPayment),      when(isPayment)],
  ["purchaseAmount",                          digits(1, 48),                                           when(isPayment),        when(isPayment),      when(isPayment)],
  ["purchaseCurrency",                        currency,                                                when(isPayment),        when(isPayment),      when(isPayment)],
  ["purchaseExponent",                        digits(1, 1),                                            when(isPayment),        when(isPayment),      when(isPayment)],
  ["purchaseDate",                            moment(14),                                              when(isPayment),        when(isPayment),      when(isPayment)],
  ["transType",                               oneOf("01", "03", "10", "11", "28"),                     O,                      O,                    O],

  ["recurringExpiry",                         moment(8),                                               when(startsRecurring),  when(isRecurring),    O],
  ["recurringFrequency",                      digits(1, 4),                                            when(startsRecurring),  when(isRecurring),    when(hasFixedFrequency)],
  ["recurringInd",                            object(recurringRows),                                   no,                     no,                   when(isRecurring)],
  ["recurringAmount",                         digits(1, 48),                                           no,                     no,                   when(hasFixedAmount)],
  ["recurringCurrency",                       currency,                                                no,                     no,                   when(hasRecurringAmount)],
  ["recurringExponent",                       digits(1, 1),                                            no,                     no,                   when(hasRecurringAmount)],
  ["recurringDate",                           moment(8),                                               no,                     no,                   O],
  ["purchaseInstalData",                      matching(/^(?:0{0,2}[2-9]|0?[1-9]\d|[1-9]\d\d)$/),       when(startsInstalment), when(isInstalment),   when(isInstalment)],

  ["browserAcceptHeader",                     text(1, 2048),                                           only(inBrowser),        only(inBrowser),      only(inBrowser)],
  ["browserUserAgent",                        text(1, 2048),                                           only(inBrowser),        only(inBrowser),      only(inBrowser)],
  ["browserIP",                               ipAddress,                                               within(inBrowser, O),   within(inBrowser, O), within(inBrowser, O)],
  ["browserLanguage",                         text(1, 8),                                              only(inBrowser),        only(inBrowser),      scripted],
  ["acceptLanguage",                          array(99, text(1, 100)),                                 no,                     no,                   only(inBrowser)],
  ["browserJavascriptEnabled",                boolean,                                                 no,                     only(inBrowser),      only(inBrowser)],
  ["browserJavaEnabled",                      boolean,                                                 only(inBrowser),        scripted,             scripted],
  ["browserColorDepth",                       colorDepth,                                              only(inBrowser),        scripted,             scripted],
  ["browserScreenHeight",                     digits(1, 6),                                            only(inBrowser),        scripted,             scripted],
  ["browserScreenWidth",                      digits(1, 6),                                            only(inBrowser),        scripted,             scripted],
  ["browserTZ",                               matching(/^[+-]?[0-9]{1,4}$/),                           only(inBrowser),        scripted,             scripted],

  ["addrMatch",                               oneOf("Y", "N"),                                         O,                      O,                    O],
  ...addressRows("billAddr"),
  ...addressRows("shipAddr"),
  ["email",                                   emailAddress,                                            O,                      O,                    O],
  ["homePhone",                               object(phoneRows),                                       O,                      O,                    O],
  ["mobilePhone",                             object(phoneRows),                                       O,                      O,                    O],
  ["workPhone",                               object(phoneRows),                                       O,                      O,                    O],

  ["acctInfo",                                object(accountRows),                                     O,                      O,                    O],
  ["merchantRiskIndicator",                   object(riskRows),                                        O,                      O,                    O],
  ["threeDSRequestorAuthenticationInfo",      object(authenticationRows),                              O,                      O,                    no],
  ["threeDSRequestorAuthenticationInfo",      array(99, object(authenticationRows)),                   no,                     no,                   O],
  ["threeDSRequestorPriorAuthenticationInfo", object(priorAuthenticationRows),                         O,                      O,                    no],
  ["threeDSRequestorPriorAuthenticationInfo", array(99, object(priorAuthenticationRows)),              no,                     no,                   O],

  ["threeDSRequestorDecReqInd",               oneOf("Y", "N"),                                         no,                     O,                    no],
  ["threeDSRequestorDecReqInd",               oneOf("Y", "N", "F", "B"),                               no,                     no,                   O],
  ["threeDSRequestorDecMaxTime",              matching(/^(?!0{5})(?:0[0-9]{4}|100[0-7][0-9]|10080)$/), no,                     when(asksDecoupled),  when(asksDecoupled)],
  ["whiteListStatus",                         trust,                                                   no,                     O,                    no],
  ["whiteListStatusSource",                   codes("01-03", "80-99"),                                 no,                     O,                    no],
  ["trustListStatus",                         trust,                                                   no,                     no,                   O],
  ["trustListStatusSource",                   codes("01-03", "80-99"),                                 no,                     no,                   O],
  ["payTokenInd",                             boolean,                                                 O,                      O,                    O],

  ["dsReferenceNumber",                       text(1, 32),                                             O,                      O,                    O],
  ["dsTransID",                               uuid,                                                    O,                      O,                    O],
  ["dsURL",                                   url(2048),                                               O,                      O,                    O],

  ["sdkAppID",                                uuid,                                                    O,                      O,                    O],
  ["sdkTransID",                              uuid,                                                    O,                      O,                    O],
  ["sdkReferenceNumber",                      text(1, 32),                                             O,                      O,                    O],
  ["sdkMaxTimeout",                           codes("05-99"),                                          O,                      O,                    O],
  ["sdkEphemPubKey",                          anyObject,                                               O,                      O,                    O],
  ["deviceRenderOptions",                     anyObject,                                               O,                      O,                    O],
  ...extensionRows,
];

function addressRows(prefix: "billAddr" | "shipAddr"): readonly Row[] {
  // biome-ignore format: a table
  return [
    [`${prefix}City`,     text(1, 50), O, O, O],
    [`${prefix}Country`,  country,     O, O, O],
    [`${prefix}Line1`,    text(1, 50), O, O, O],
    [`${prefix}Line2`,    text(1, 50), O, O, O],
    [`${prefix}Line3`,    text(1, 50), O, O, O],
    [`${prefix}PostCode`, text(1, 16), O, O, O],
    [`${prefix}State`,    text(1, 3),  O, O, O],
  ];
}
