/** Texts of an order's page with timeline and actions, and some texts of the home screen. */
import type { Rows } from "./rows.ts";

export const order = {
  message: (type: string, way: "sent" | "received") => `${type} ${way}
    | ${type} ${way === "sent" ? "gesendet" : "empfangen"}`,
  derived: `Made again from the order: messages of a plain charge are not stored. It has the gate's
    settings of today.
    | Aus der Zahlung wiederhergestellt: Nachrichten einer einfachen Belastung werden nicht
    gespeichert. Es gelten die heutigen Einstellungen des Gates.`,
  raw: "Raw, encoded anew from the masked fields | Rohdaten, aus den maskierten Feldern kodiert",
  details: "Details | Einzelheiten",
  sawThen: "What the merchant saw | Was der Händler gesehen hat",
  attemptMade: (answer: string) => `Callback: ${answer} | Callback: ${answer}`,
  copyCurl: "Copy as cURL | Als cURL kopieren",
  copyFailed: `The browser does not let the portal copy. Select the text instead.
    | Der Browser erlaubt das Kopieren nicht. Markieren Sie stattdessen den Text.`,
  doneBefore: `This form was sent before, and was done then. Nothing else was done now.
    | Dieses Formular wurde schon einmal gesendet und damals ausgeführt. Jetzt wurde nichts weiter
    ausgeführt.`,
  callbacksResent: "Callbacks sent again | Callbacks erneut gesendet",
  onItsWay: (what: string) => `${what} is on its way to the acquirer.
    | ${what} ist auf dem Weg zum Acquirer.`,
  settled: (decision: string, status: string) => `${decision}: the order is now ${status}.
    | ${decision}: Die Zahlung ist jetzt ${status}.`,
  atMost: (amount: string) => `At most ${amount}. | Höchstens ${amount}.`,
  amountHints: {
    capture: (most: string) => `At most ${most}. Leave it empty for all of it.
      | Höchstens ${most}. Lassen Sie das Feld für den ganzen Betrag leer.`,
    return: (most: string) => `At most ${most}. This cannot be undone.
      | Höchstens ${most}. Das lässt sich nicht rückgängig machen.`,
    void: (most: string) => `All of it: ${most}. This cannot be undone.
      | Der ganze Betrag: ${most}. Das lässt sich nicht rückgängig machen.`,
  },
  typeAmount: "The order's amount | Betrag der Zahlung",
  typeAmountHint: (amount: string) => `This cannot be undone. Type ${amount} to confirm that it is
    this order.
    | Das lässt sich nicht rückgängig machen. Geben Sie zur Bestätigung dieser Zahlung ${amount}
    ein.`,
  decisions: {
    ask: "Ask again | Erneut anfragen",
    "settle-done": "Settle as done | Als ausgeführt klären",
    "settle-not-done": "Settle as not done | Als nicht ausgeführt klären",
  },
  decisionHints: {
    ask: `The acquirer is asked once more about this order.
      | Der Acquirer wird zu dieser Zahlung noch einmal gefragt.`,
    "settle-done": `Only when the acquirer has told you that the money has moved.
      | Nur, wenn der Acquirer Ihnen bestätigt hat, dass das Geld geflossen ist.`,
    "settle-not-done": `Only when the acquirer has told you that the money has not moved.
      | Nur, wenn der Acquirer Ihnen bestätigt hat, dass kein Geld geflossen ist.`,
  },
  askAboutPayout: (amount: string, reference: string, trace: string, terminal: string) =>
    `Ask the acquirer whether the original credit of ${amount} with the reference (RRN)
    ${reference}, the trace number ${trace} and the terminal ${terminal} was credited to the card.
    A payout cannot be taken back, and after "not done" the merchant may pay out again: settle it
    only with the acquirer's answer in writing.
    | Fragen Sie den Acquirer, ob die Auszahlung (Original Credit) von ${amount} mit der Referenz
    (RRN) ${reference}, der Trace-Nummer ${trace} und dem Terminal ${terminal} der Karte
    gutgeschrieben wurde. Niemand kann eine Auszahlung zurückholen, und nach „nicht ausgeführt“ kann
    der Händler erneut auszahlen: Klären Sie sie nur mit der schriftlichen Antwort des Acquirers.`,
  begins: {
    capture: "It is taken from what is held. | Der Betrag wird aus der Vormerkung eingezogen.",
    refund: "It goes back to the cardholder. | Der Betrag geht an den Karteninhaber zurück.",
    void: `The charge is taken back before it is cleared: the cardholder does not pay.
      | Die Belastung wird vor der Abrechnung zurückgenommen: Der Karteninhaber zahlt nicht.`,
    cancel: `It is released: the card is not charged.
      | Der Betrag wird freigegeben: Die Karte wird nicht belastet.`,
  },
  decided: {
    asked: `The acquirer is asked again at once. It stays in doubt until the acquirer has answered.
      | Der Acquirer wird sofort noch einmal gefragt. Bis er antwortet, bleibt die Zahlung
      ungeklärt.`,
    stays: `Its result stays as it is, and the gateway stops reversing the charge.
      | Das Ergebnis bleibt, wie es ist, und das Gateway storniert die Belastung nicht mehr.`,
    approved: `It becomes approved. The merchant is told, and it can be returned.
      | Die Zahlung gilt dann als genehmigt. Der Händler wird benachrichtigt und kann sie
      erstatten.`,
    error: `It ends with an error: no money has moved. The merchant is told.
      | Die Zahlung endet mit einem Fehler: Kein Geld ist geflossen. Der Händler wird
      benachrichtigt.`,
    declined: `It becomes declined: no money has moved. The merchant is told.
      | Die Zahlung gilt dann als abgelehnt: Kein Geld ist geflossen. Der Händler wird
      benachrichtigt.`,
    paidOut: `It becomes approved: the money is on the card. The merchant is told.
      | Sie wird genehmigt: Das Geld ist auf der Karte. Der Händler wird benachrichtigt.`,
    voided: `It becomes approved: the charge is taken back. The merchant is told.
      | Die Rücknahme gilt dann als genehmigt: Die Belastung ist zurückgenommen. Der Händler wird
      benachrichtigt.`,
    notVoided: `It ends with an error: the charge stands. The merchant is told.
      | Die Rücknahme endet mit einem Fehler: Die Belastung bleibt bestehen. Der Händler wird
      benachrichtigt.`,
    filtered: "It ends: no money has moved. | Die Zahlung endet: Kein Geld ist geflossen.",
    processing: `This try ends unpaid, and the cardholder may pay with another card.
      | Dieser Versuch endet unbezahlt, und der Karteninhaber kann mit einer anderen Karte zahlen.`,
  },
  p50: "median | Median",
  perMinute: "Sales per minute | Verkäufe pro Minute",
  threedsNames: {
    AUTHENTICATED: "Authenticated | Authentifiziert",
    NOT_AUTHENTICATED: "Not authenticated | Nicht authentifiziert",
    UNSUPPORTED: "Not supported | Nicht unterstützt",
  },
  noGateLinks: "No gate has links on this node. | Kein Gate hat auf diesem Knoten Verbindungen.",
  counted: {
    orders: "All that were accepted in this time | Alle, die in dieser Zeit angenommen wurden",
    approvalRate: `Of those that have ended, by their first result: a refund changes nothing
      | Von den beendeten, nach ihrem ersten Ergebnis: Eine Erstattung ändert daran nichts`,
    netAmount: `Captured, less refunds and chargebacks
      | Eingezogen, abzüglich Erstattungen und Rückbelastungen`,
    overhead: `The gateway's own time, without acquirer and cardholder
      | Eigene Zeit des Gateways, ohne Acquirer und Karteninhaber`,
    inDoubt: `Now, of any age: the acquirer's answer is missing
      | Derzeit, unabhängig vom Alter: Die Antwort des Acquirers fehlt`,
    failingCallbacks: `Now: refused or unanswered, and tried again
      | Derzeit: abgelehnt oder ohne Antwort, werden wiederholt`,
  },
} satisfies Rows;
