/** The conditions in the last columns of the tables, which say when an element is required. */
import { isJsonObject } from "../shared/json.ts";
import { type Condition, type Inclusion, no, R } from "./checks.ts";
import { textOf } from "./message.ts";

function elementIs(name: string, ...values: readonly string[]): Condition {
  return ({ message }) => values.includes(textOf(message, name) ?? "");
}

export const inBrowser = elementIs("deviceChannel", "02");
export const isThreeRI = elementIs("deviceChannel", "03");
export const isAttended = elementIs("deviceChannel", "01", "02");
const hasChannel = elementIs("deviceChannel", "01", "02", "03");

/** Forbids an element outside of its channel. An invalid channel is reported alone. */
export function within(channel: Condition, inclusion: Inclusion): Inclusion {
  return (context) => {
    if (channel(context) && inclusion !== no) return inclusion(context);
    return hasChannel(context) ? "forbidden" : "optional";
  };
}

export function only(channel: Condition): Inclusion {
  return within(channel, R);
}

/** Holds for browser values that only a script can find out. */
export const withScript: Condition = (context) =>
  inBrowser(context) && context.message.browserJavascriptEnabled === true;

/**
 * Returns whether the message is about a payment. An ARes has no category, so that of its AReq
 * counts, and without an AReq the strictest.
 */
export const isPayment: Condition = ({ message, request }) => {
  const category = textOf(request ?? {}, "messageCategory") ?? textOf(message, "messageCategory");
  return category === undefined || category === "01";
};

/** Returns whether the version has the message as 3RI, which exists for payments from 2.2.0 on. */
export const isThreeRIKnown: Condition = (context) => !isThreeRI(context) || !isPayment(context);

/** In 2.1.0, only the indicator of an attended request announces recurring payments. */
export const startsInstalment = elementIs("threeDSRequestorAuthenticationInd", "03");
export const startsRecurring = elementIs("threeDSRequestorAuthenticationInd", "02", "03");

export const isInstalment: Condition = (context) =>
  startsInstalment(context) || elementIs("threeRIInd", "02")(context);
export const isRecurring: Condition = (context) =>
  startsRecurring(context) || elementIs("threeRIInd", "01", "02")(context);

export const hasRecurringAmount: Condition = ({ message }) =>
  Object.hasOwn(message, "recurringAmount");

/**
 * Returns whether an indicator of `recurringInd` is `01`, which means a fixed amount or frequency.
 */
export function hasFixed(indicator: "amountInd" | "frequencyInd"): Condition {
  return (context) => {
    const recurring = context.message.recurringInd;
    return isRecurring(context) && isJsonObject(recurring) && textOf(recurring, indicator) === "01";
  };
}

export const asksDecoupled = elementIs("threeDSRequestorDecReqInd", "Y", "F", "B");

export function statusIs(...statuses: readonly string[]): Condition {
  return elementIs("transStatus", ...statuses);
}

/**
 * Returns whether the challenge is in a browser. An app shows the challenge itself and needs no
 * URL.
 */
export const isChallengedInBrowser: Condition = (context) =>
  statusIs("C")(context) && textOf(context.request ?? {}, "deviceChannel") !== "01";

export const isProven: Condition = (context) => isPayment(context) && statusIs("Y", "A")(context);

/**
 * Returns whether the request permits the answer: 3RI has no cardholder to challenge, and decoupled
 * authentication must have been offered.
 */
export const isPossibleAnswer: Condition = (context) => {
  if (context.request === undefined) return true;
  const ofRequest = { ...context, message: context.request };
  if (statusIs("D")(context)) return asksDecoupled(ofRequest);
  return !(statusIs("C")(context) && isThreeRI(ofRequest));
};

export const hasNoSdk: Condition = ({ message }) => !Object.hasOwn(message, "sdkTransID");
export const isNotDeleted: Condition = ({ own }) => textOf(own, "actionInd") !== "D";
