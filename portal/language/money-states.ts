/**
 * The states of an order's money as users see them, each with the colour of its label, its word and
 * its meaning. Lists, headings, filters and saved views are made from this table.
 */
import type { Api } from "@tollgate/gateway/portal-api";
import type { Row, Rows } from "./rows.ts";

type State = Api["GET /orders"]["output"]["orders"][number]["status"];
type Look = readonly [colour: string, word: Row, meaning: Row];

/** `approved` is no state of money but a filter for every order whose charge was approved. */
// biome-ignore format: a table
const states: Readonly<Record<State, Look>> = {
  captured:        ["approved",      "Captured | Eingezogen",                  "The money was taken, and nothing has gone back. | Das Geld wurde eingezogen, nichts ging zurück."],
  held:            ["held",          "Held | Vorgemerkt",                      "The card holds the money until it is captured or cancelled. | Das Geld ist auf der Karte vorgemerkt, bis es eingezogen oder freigegeben wird."],
  partly_refunded: ["part",          "Partly refunded | Teilweise erstattet",  "A part of the money went back to the cardholder. | Ein Teil des Geldes ging an den Karteninhaber zurück."],
  refunded:        ["refunded",      "Refunded | Erstattet",                   "All of the money went back to the cardholder. | Das ganze Geld ging an den Karteninhaber zurück."],
  voided:          ["off",           "Voided | Zurückgenommen",                "The charge was taken back before it was cleared. | Die Belastung wurde vor der Abrechnung zurückgenommen."],
  charged_back:    ["charged-back",  "Charged back | Rückbelastet",            "The issuer has taken money back, all or a part. | Der Herausgeber hat Geld zurückgeholt, ganz oder teilweise."],
  in_doubt:        ["doubt",         "In doubt | Ungeklärt",                  "The acquirer may have moved money or not. | Ob der Acquirer Geld bewegt hat, ist offen."],
  processing:      ["processing",    "Processing | In Bearbeitung",                 "It has not ended yet. | Die Zahlung ist noch nicht beendet."],
  declined:        ["declined",      "Declined | Abgelehnt",                   "The issuer or the acquirer refused it: no money has moved. | Herausgeber oder Acquirer haben die Zahlung abgelehnt: Kein Geld ist geflossen."],
  filtered:        ["filtered",      "Filtered | Gefiltert",                   "Screening refused it: nothing was sent. | Die Risikoprüfung hat die Zahlung abgelehnt: Nichts wurde gesendet."],
  error:           ["declined",      "Error | Fehler",                         "It ended with an error: no money has moved. | Die Zahlung endete mit einem Fehler: Kein Geld ist geflossen."],
  cancelled:       ["off",           "Cancelled | Storniert",                  "The hold was released: the card was not charged. | Die Vormerkung wurde aufgehoben: Die Karte wurde nicht belastet."],
  paid_out:        ["approved",      "Paid out | Ausgezahlt",                  "The money went to the card. | Das Geld ging auf die Karte."],
  verified:        ["off",           "Verified | Geprüft",                     "The card is good. No money was asked for. | Die Karte ist gültig. Es wurde kein Geld verlangt."],
  approved:        ["approved",      "Approved | Genehmigt",                   "The charge was approved, also if money went back later. | Die Belastung wurde genehmigt, auch wenn später Geld zurückging."],
};

function column<Value>(read: (look: Look) => Value) {
  // `Object.fromEntries` loses the type of the names. The table has a row for each state.
  return Object.fromEntries(
    Object.entries(states).map(([state, look]) => [state, read(look)]),
  ) as Readonly<Record<State, Value>>;
}

export const statusColours = column(([colour]) => colour);

export const money = {
  statuses: column(([, word]) => word),
  statusMeanings: column(([, , meaning]) => meaning),
} satisfies Rows;
