/** When an element is required: the small questions that the last columns of the tables ask. */
import { type Fields, isFields, textOf } from "./message.ts";
import { type Condition, no, type Place, type Presence, R } from "./rows.ts";

export const inBrowser: Condition = ({ message }) => textOf(message, "deviceChannel") === "02";
export const isThreeRI: Condition = ({ message }) => textOf(message, "deviceChannel") === "03";
export const isAttended: Condition = ({ message }) =>
  ["01", "02"].includes(textOf(message, "deviceChannel") ?? "");

/**
 * Outside of its channel an element may not stand at all. A request that does not say its channel
 * hears of that alone.
 */
export function within(channel: Condition, presence: Presence): Presence {
  return (place) => {
    if (channel(place) && presence !== no) return presence(place);
    return /^0[123]$/.test(textOf(place.message, "deviceChannel") ?? "") ? "forbidden" : "optional";
  };
}

export function only(channel: Condition): Presence {
  return within(channel, R);
}

/** Browser values that only a script can find out. */
export const withScript: Condition = (place) =>
  inBrowser(place) && place.message.browserJavascriptEnabled === true;

/** An ARes does not say its category: that of the AReq counts, and without one the strictest. */
export const isPayment: Condition = ({ message, request }) => {
  const category = textOf(request ?? {}, "messageCategory") ?? textOf(message, "messageCategory");
  return category === undefined || category === "01";
};

/** 3RI for payments exists from 2.2.0 on. */
export const isThreeRIKnown: Condition = (place) => !isThreeRI(place) || !isPayment(place);

/** In 2.1.0 only the indicator of an attended request speaks of what is to recur. */
export const startsInstalment: Condition = ({ message }) =>
  textOf(message, "threeDSRequestorAuthenticationInd") === "03";
export const startsRecurring: Condition = (place) =>
  startsInstalment(place) || textOf(place.message, "threeDSRequestorAuthenticationInd") === "02";

export const isInstalment: Condition = (place) =>
  startsInstalment(place) || textOf(place.message, "threeRIInd") === "02";
export const isRecurring: Condition = (place) =>
  startsRecurring(place) || ["01", "02"].includes(textOf(place.message, "threeRIInd") ?? "");

export const hasFixedAmount: Condition = (place) =>
  isRecurring(place) && textOf(recurringOf(place), "amountInd") === "01";
export const hasFixedFrequency: Condition = (place) =>
  isRecurring(place) && textOf(recurringOf(place), "frequencyInd") === "01";
export const hasRecurringAmount: Condition = ({ message }) => has(message, "recurringAmount");

function recurringOf({ message }: Place): Fields {
  return isFields(message.recurringInd) ? message.recurringInd : {};
}

export const asksDecoupled: Condition = ({ message }) => isDecoupledAsked(message);

export function statusIs(...statuses: readonly string[]): Condition {
  return ({ message }) => statuses.includes(textOf(message, "transStatus") ?? "");
}

/** Who pays attended by an app is challenged inside it, at no address. */
export const isChallengedInBrowser: Condition = (place) =>
  statusIs("C")(place) && textOf(place.request ?? {}, "deviceChannel") !== "01";

export const isProven: Condition = (place) => isPayment(place) && statusIs("Y", "A")(place);

/** Nobody is there to be challenged in 3RI, and only who offered waiting can be made to wait. */
export const isPossibleAnswer: Condition = (place) => {
  if (place.request === undefined) return true;
  if (statusIs("D")(place)) return isDecoupledAsked(place.request);
  return !(statusIs("C")(place) && textOf(place.request, "deviceChannel") === "03");
};

export const hasNoSdk: Condition = ({ message }) => !has(message, "sdkTransID");
export const isNotDeleted: Condition = ({ own }) => textOf(own, "actionInd") !== "D";

function isDecoupledAsked(request: Fields): boolean {
  return ["Y", "F", "B"].includes(textOf(request, "threeDSRequestorDecReqInd") ?? "");
}

function has(fields: Fields, element: string): boolean {
  return Object.hasOwn(fields, element) && fields[element] !== undefined;
}
