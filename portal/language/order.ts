/** Texts of one order, its timeline and its actions, and of the home screen. */

// biome-ignore format: a table
export const orderEnglish = {
  messages: "Messages",
  message: (type: string, way: "sent" | "received") => (way === "sent" ? `${type} sent` : `${type} received`),
  derived: "Made again from the order: messages of a plain charge are not stored. It has the gate's settings of today.",
  raw: "Raw, encoded anew from the masked fields",
  fields: "Fields",
  details: "Details",
  sawThen: "What the merchant saw",
  attemptMade: (answer: string) => `Callback: ${answer}`,
  copyCurl: "Copy as cURL",
  copyFailed: "The browser does not let the portal copy. Select the text instead.",
  doneBefore: "This form was sent before, and was done then. Nothing else was done now.",
  decisions: { ask: "Ask again", "settle-done": "Settle as done", "settle-not-done": "Settle as not done" },
  decisionHints: {
    ask: "The acquirer is asked once more about this order.",
    "settle-done": "Only when the acquirer has told you that the money has moved.",
    "settle-not-done": "Only when the acquirer has told you that the money has not moved.",
  },
  begins: {
    capture: "It is taken from what is held.",
    refund: "It goes back to the cardholder.",
    cancel: "It is released: the card is not charged.",
  },
  decided: {
    asked: "The acquirer is asked again at once. It stays in doubt until the acquirer has answered.",
    stays: "Its result stays as it is, and the gateway stops reversing the charge.",
    approved: "It becomes approved. The merchant is told, and it can be returned.",
    error: "It ends with an error: no money has moved. The merchant is told.",
    declined: "It becomes declined: no money has moved. The merchant is told.",
    filtered: "It ends: no money has moved.",
    processing: "This try ends unpaid, and the cardholder may pay with another card.",
  },
  p50: "median",
  perMinute: "Sales per minute",
  threedsNames: { AUTHENTICATED: "Authenticated", NOT_AUTHENTICATED: "Not authenticated", UNSUPPORTED: "Not supported" },
  noLinks: "No gate has links on this node.",
};

type OrderMessages = typeof orderEnglish;

// biome-ignore format: a table
export const orderGerman: OrderMessages = {
  messages: "Nachrichten",
  message: (type, way) => (way === "sent" ? `${type} gesendet` : `${type} empfangen`),
  derived: "Aus der Zahlung wiederhergestellt: Nachrichten einer einfachen Belastung werden nicht gespeichert. Es gelten die heutigen Einstellungen des Gates.",
  raw: "Roh, aus den maskierten Feldern neu kodiert",
  fields: "Felder",
  details: "Einzelheiten",
  sawThen: "Was der Händler sah",
  attemptMade: (answer) => `Callback: ${answer}`,
  copyCurl: "Als cURL kopieren",
  copyFailed: "Der Browser lässt das Portal nicht kopieren. Markieren Sie stattdessen den Text.",
  doneBefore: "Dieses Formular wurde schon einmal gesendet und damals ausgeführt. Jetzt wurde nichts weiter ausgeführt.",
  decisions: { ask: "Erneut anfragen", "settle-done": "Als ausgeführt klären", "settle-not-done": "Als nicht ausgeführt klären" },
  decisionHints: {
    ask: "Der Acquirer wird zu dieser Zahlung noch einmal gefragt.",
    "settle-done": "Nur, wenn der Acquirer Ihnen gesagt hat, dass das Geld geflossen ist.",
    "settle-not-done": "Nur, wenn der Acquirer Ihnen gesagt hat, dass kein Geld geflossen ist.",
  },
  begins: {
    capture: "Es wird vom vorgemerkten Betrag eingezogen.",
    refund: "Es geht an den Karteninhaber zurück.",
    cancel: "Es wird freigegeben: Die Karte wird nicht belastet.",
  },
  decided: {
    asked: "Der Acquirer wird sofort noch einmal gefragt. Bis er antwortet, bleibt es im Zweifel.",
    stays: "Das Ergebnis bleibt, wie es ist, und das Gateway hört auf, die Belastung zu stornieren.",
    approved: "Es wird genehmigt. Der Händler erfährt es und kann es erstatten.",
    error: "Es endet mit einem Fehler: Kein Geld ist geflossen. Der Händler erfährt es.",
    declined: "Es wird abgelehnt: Kein Geld ist geflossen. Der Händler erfährt es.",
    filtered: "Es endet: Kein Geld ist geflossen.",
    processing: "Dieser Versuch endet unbezahlt, und der Karteninhaber kann mit einer anderen Karte zahlen.",
  },
  p50: "Median",
  perMinute: "Verkäufe pro Minute",
  threedsNames: { AUTHENTICATED: "Authentifiziert", NOT_AUTHENTICATED: "Nicht authentifiziert", UNSUPPORTED: "Nicht unterstützt" },
  noLinks: "Kein Gate hat auf diesem Knoten Verbindungen.",
};
