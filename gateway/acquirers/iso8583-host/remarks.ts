/** Puts together what an answer says to the cardholder; what is not said is left out. */
import type { Loyalty } from "../../orders/order.ts";
import type { Remarks } from "./dialect.ts";

/** Where in its field a host says each of them. */
export type RemarkPlaces<Place> = { readonly [Name in RemarkName]: Place };
type RemarkName = keyof Loyalty | "explanation";

export function makeRemarks<Place>(
  places: RemarkPlaces<Place>,
  find: (place: Place) => string | undefined,
): Remarks {
  const loyalty: { -readonly [Name in keyof Loyalty]: string } = {};
  for (const name of loyaltyNames) {
    const text = findText(places[name]);
    if (text !== undefined) loyalty[name] = text;
  }
  const explanation = findText(places.explanation);
  return {
    ...(Object.keys(loyalty).length > 0 ? { loyalty } : {}),
    ...(explanation === undefined ? {} : { explanation }),
  };

  function findText(place: Place): string | undefined {
    return trimField(find(place));
  }
}

/** Fields of fixed width are filled with spaces; one of spaces only says nothing. */
export function trimField(field: string | undefined): string | undefined {
  const text = field?.trimEnd();
  return text === "" ? undefined : text;
}

const loyaltyNames = ["balance", "message", "bonus", "program"] as const;
