/** What the cardholder's pages say in German. */
import type { Texts } from "./texts.ts";

// biome-ignore format: a table
export const german: Texts = {
  continue:           "Weiter",

  methodTitle:        "Ihre Zahlung wird vorbereitet",
  methodSentence:     "Wir verbinden Sie mit Ihrer Bank. Das dauert nur wenige Sekunden.",
  methodFrame:        "Verbindung zu Ihrer Bank",

  challengeTitle:     "Zahlung bestätigen",
  challengeSentence:  "Ihre Bank bittet Sie zu bestätigen, dass Sie selbst bezahlen.",
  challengeFrame:     "Bestätigungsseite Ihrer Bank",
  challengeButton:    "Weiter zu Ihrer Bank",

  waitingTitle:       "Bitte warten",
  waitingSentence:    "Ihre Zahlung wird bearbeitet. Bitte lassen Sie diese Seite geöffnet.",
  doubtSentence:      "Ihre Bank braucht länger als üblich. Bitte bezahlen Sie nicht noch einmal: Das Ergebnis wird hier angezeigt, und der Shop erfährt es auch dann, wenn Sie diese Seite schließen.",

  doneTitle:          "Vielen Dank",
  doneSentence:       "Die Prüfung durch Ihre Bank ist abgeschlossen. Ihre Zahlung geht weiter.",

  returnTitle:        "Zurück zum Shop",
  returnSentence:     "Sie werden zum Shop zurückgeleitet.",
  returnButton:       "Zurück zum Shop",

  approvedTitle:      "Zahlung genehmigt",
  approvedSentence:   ({ amount, merchant }) => `Ihre Zahlung von ${amount} an ${merchant} wurde genehmigt.`,
  approvedNext:       "Sie müssen nichts weiter tun und können diese Seite schließen.",
  declinedTitle:      "Zahlung abgelehnt",
  declinedSentence:   ({ amount, merchant }) => `Die Zahlung von ${amount} an ${merchant} wurde abgelehnt. Es wurde nichts abgebucht.`,
  declinedNext:       "Gehen Sie zurück zum Shop, um mit einer anderen Karte zu bezahlen, oder fragen Sie Ihre Bank.",
  errorTitle:         "Zahlung nicht abgeschlossen",
  errorSentence:      ({ amount, merchant }) => `Die Zahlung von ${amount} an ${merchant} konnte nicht abgeschlossen werden. Es wurde nichts abgebucht.`,
  errorNext:          "Gehen Sie zurück zum Shop, um es noch einmal zu versuchen. Ein Betrag, den Ihre Bank noch als vorgemerkt anzeigt, wird von selbst wieder frei.",
  merchant:           "Shop",
  amount:             "Betrag",
  card:               "Karte",
  order:              "Bestellung",
  receiptLink:        "Beleg anzeigen",

  unknownTitle:       "Hier ist keine Zahlung",
  unknownSentence:    "Dieser Link gehört zu keiner Zahlung, oder seine Zeit ist abgelaufen. Im Shop sehen Sie, was aus Ihrer Bestellung geworden ist.",
  unavailableTitle:   "Einen Moment",
  unavailableSentence: "Im Augenblick geht es nicht weiter. Diese Seite versucht es von selbst noch einmal.",
  refusedTitle:       "Das hat nicht geklappt",
  refusedSentence:    "Die Antwort Ihrer Bank war nicht verwendbar. Es hat sich nichts geändert.",
  refusedLink:        "Noch einmal versuchen",

  money:              (amount) => amount.replace(".", ","),

  receiptTitle:       "Beleg",
  receiptPrint:       "Drucken",
  receiptSince:       "Seither",
  receiptSinceDate:   "Datum",
  receiptSinceKind:   "Vorgang",
  receiptSinceAmount: "Betrag",
  receiptType:        "Vorgang",
  noReceiptTitle:     "Hier ist kein Beleg",
  noReceiptSentence:  "Dieser Link gehört zu keinem Beleg. Prüfen Sie, ob er vollständig ist, oder fragen Sie im Shop.",

  receiptStates: {
    charged:          ({ amount, merchant }) => `Sie haben ${amount} an ${merchant} bezahlt.`,
    held:             ({ amount, merchant }) => `${amount} sind für ${merchant} vorgemerkt und noch nicht abgebucht.`,
    verified:         ({ merchant }) => `Ihre Karte wurde für ${merchant} geprüft. Es wurde nichts abgebucht.`,
    returned:         ({ amount, merchant }) => `Ihre Zahlung von ${amount} an ${merchant} wurde vollständig erstattet.`,
    returned_in_part: ({ amount, merchant, returned, left }) => `Von Ihrer Zahlung von ${amount} an ${merchant} wurden ${returned} erstattet; ${left} bleiben abgebucht.`,
    cancelled:        ({ amount, merchant }) => `Die Vormerkung von ${amount} für ${merchant} wurde aufgehoben. Es wurde nichts abgebucht.`,
  },
  receiptKinds: {
    "sale":                 "Zahlung",
    "preauth":              "Vormerkung",
    "account-verification": "Kartenprüfung",
    "capture":              "Abbuchung",
    "reversal":             "Erstattung",
    "cancel":               "Vormerkung aufgehoben",
  },
  receiptRows: {
    merchant:         "Shop",
    descriptor:       "Auf Ihrem Kontoauszug",
    terminal:         "Terminal",
    amount:           "Betrag",
    held:             "Vorgemerkter Betrag",
    charged:          "Abgebuchter Betrag",
    returned:         "Erstatteter Betrag",
    left:             "Verbleibender Betrag",
    card:             "Karte",
    cardType:         "Kartenart",
    approvalCode:     "Freigabecode",
    reference:        "Referenz (RRN)",
    networkId:        "Transaktionsnummer",
    processedAt:      "Bearbeitet",
    finishedAt:       "Abgeschlossen",
    clientOrderId:    "Bestellung",
    orderId:          "Zahlungsnummer",
    receiptId:        "Belegnummer",
  },
};
