/** Texts of the sandbox screen. The sandbox bank's own texts on cards and switches are English. */
import { type Rows, some } from "./rows.ts";

export const sandbox = {
  sandbox: "Sandbox | Sandbox",
  sandboxHint: `No money moves here: the bank behind this gateway runs on the same machine.
    | Hier fließt kein Geld: Die Bank hinter diesem Gateway läuft auf demselben Rechner.`,
  demonstrationShop: "Demonstration shop | Demonstrations-Shop",
  testPayments: "Test payments | Testzahlungen",
  switches: "Switches | Schalter",
  ledger: "Ledger | Bücher",
  testCards: "Test cards | Testkarten",
  payments: {
    plain: "Plain sale | Einfache Zahlung",
    frictionless: "3-D Secure, frictionless | 3-D Secure ohne Rückfrage",
    challenge: "3-D Secure, with a challenge | 3-D Secure mit Rückfrage",
    version1: "3-D Secure 1.0.2 | 3-D Secure 1.0.2",
    wallet: "Wallet | Wallet",
    decline: "Declined by the bank | Von der Bank abgelehnt",
  },
  paymentHints: {
    plain: "Approved without 3-D Secure | Genehmigt ohne 3-D Secure",
    frictionless: "The issuer asks for nothing | Der Herausgeber fragt nicht nach",
    challenge: "You enter the code 1234 | Sie geben den Code 1234 ein",
    version1: "A page of the issuer, with a PARes | Eine Seite des Herausgebers, mit PARes",
    wallet: "A token in the place of the card | Ein Token statt der Karte",
    decline: "Too little money on the card | Zu wenig Geld auf der Karte",
  },
  pay: "Pay 10.42 USD | 10,42 USD zahlen",
  goOnAtBank: "Go on at the bank | Weiter zur Bank",
  whatHappens: "What happens | Was geschieht",
  payWith: (name: string) => `Pay with ${name} | Zahlen mit ${name}`,
  cardHint: "Any expiry date to come, CVV 123. | Jedes künftige Ablaufdatum, CVV 123.",
  usual: "usual | üblich",
  set: "Set | Setzen",
  reset: "Reset | Zurücksetzen",
  changedSwitches: (count: number) => `${count} changed | ${count} geändert`,
  atBank: "At the bank | Bei der Bank",
  here: "Here | Hier",
  agrees: "Agrees | Stimmt überein",
  differs: "Differs | Weicht ab",
  open: "Not ended | Nicht beendet",
  unknownHere: "unknown here | hier unbekannt",
  nothingBooked: "nothing | nichts",
  booksAgree: "Both books agree. | Beide Bücher stimmen überein.",
  booksDiffer: (count: number) => `${some(count, "order differs", "orders differ")}.
    | ${some(count, "Zahlung weicht ab", "Zahlungen weichen ab")}.`,
  ledgerHint: `What the bank has booked for the latest orders, and what the gateway says of them.
    | Was die Bank für die letzten Zahlungen gebucht hat, und was das Gateway dazu sagt.`,
  noBookings: "Nothing is booked yet | Noch nichts gebucht",
  noBookingsHint: `Make a test payment: its booking appears here.
    | Führen Sie eine Testzahlung aus: Die Buchung erscheint hier.`,
} satisfies Rows;
