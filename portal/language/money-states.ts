/**
 * What becomes of an order's money, as people see it: the colour of the label, the word and its
 * meaning in English and German. Lists, headings, filters with their legend and saved views are
 * made from this table, which has a row for each state of the gateway.
 */
import type { Api } from "@tollgate/gateway/portal-api";

type State = Api["GET /orders"]["output"]["orders"][number]["status"];
type Words = readonly [word: string, meaning: string];
type Row = readonly [colour: string, english: Words, german: Words];

/**
 * In the order in which filters offer them. `approved` is the status of a transaction; as a filter
 * it finds every order whose charge was approved.
 */
// biome-ignore format: a table
const states: Readonly<Record<State, Row>> = {
  captured:        ["approved",     ["Captured", "The money was taken, and nothing has gone back."],            ["Eingezogen", "Das Geld wurde eingezogen, und nichts ging zurück."]],
  held:            ["held",         ["Held", "The card holds the money until it is captured or cancelled."],    ["Vorgemerkt", "Das Geld ist auf der Karte vorgemerkt, bis es eingezogen oder freigegeben wird."]],
  partly_refunded: ["part",         ["Partly refunded", "A part of the money went back to the cardholder."],    ["Teilweise erstattet", "Ein Teil des Geldes ging an den Karteninhaber zurück."]],
  refunded:        ["refunded",     ["Refunded", "All of the money went back to the cardholder."],              ["Erstattet", "Das ganze Geld ging an den Karteninhaber zurück."]],
  charged_back:    ["charged-back", ["Charged back", "The issuer has taken money back, all or a part."],        ["Rückbelastet", "Der Herausgeber hat Geld zurückgeholt, ganz oder teilweise."]],
  in_doubt:        ["doubt",        ["In doubt", "The acquirer may have moved money or not."],                  ["Im Zweifel", "Der Acquirer hat vielleicht Geld bewegt, vielleicht auch nicht."]],
  processing:      ["processing",   ["Processing", "It has not ended yet."],                                    ["In Arbeit", "Es ist noch nicht beendet."]],
  declined:        ["declined",     ["Declined", "The issuer or the acquirer refused it: no money has moved."], ["Abgelehnt", "Herausgeber oder Acquirer haben es abgelehnt: Kein Geld ist geflossen."]],
  filtered:        ["filtered",     ["Filtered", "Screening refused it: nothing was sent."],                    ["Gefiltert", "Die Prüfung hat es abgelehnt: Nichts wurde gesendet."]],
  error:           ["declined",     ["Error", "It ended with an error: no money has moved."],                   ["Fehler", "Es endete mit einem Fehler: Kein Geld ist geflossen."]],
  cancelled:       ["off",          ["Cancelled", "The hold was released: the card was not charged."],          ["Storniert", "Die Vormerkung wurde aufgehoben: Die Karte wurde nicht belastet."]],
  verified:        ["off",          ["Verified", "The card is good. No money was asked for."],                  ["Geprüft", "Die Karte ist gültig. Es ging um kein Geld."]],
  approved:        ["approved",     ["Approved", "The charge was approved, also if money went back later."],    ["Genehmigt", "Die Belastung wurde genehmigt, auch wenn später Geld zurückging."]],
};

function column<Value>(read: (row: Row) => Value) {
  // A value for each row of the table.
  return Object.fromEntries(
    Object.entries(states).map(([state, row]) => [state, read(row)]),
  ) as Readonly<Record<State, Value>>;
}

export const statusColours = column(([colour]) => colour);

export const moneyEnglish = {
  statuses: column(([, [word]]) => word),
  statusMeanings: column(([, [, meaning]]) => meaning),
};

export const moneyGerman: typeof moneyEnglish = {
  statuses: column(([, , [word]]) => word),
  statusMeanings: column(([, , [, meaning]]) => meaning),
};
