/** Texts of callbacks, refused requests and the checksum debugger. */
import { type Rows, some } from "./rows.ts";

export const requests = {
  receiverHost: "Receiver | Empfänger",
  tries: "Tries | Versuche",
  made: "Result at | Ergebnis am",
  nextTry: "Next try | Nächster Versuch",
  lastResult: "Last result | Letztes Ergebnis",
  triesMade: (count: number) => `${some(count, "try", "tries")}
    | ${some(count, "Versuch", "Versuche")}`,
  sentAgain: "Sent again | Erneut gesendet",
  ended: "Ended | Beendet",
  noDeliveries: "No callbacks yet | Noch keine Callbacks",
  noDeliveriesHint: `A callback is made when a payment with a server_callback_url or notify_url has
    its result.
    | Ein Callback entsteht, sobald eine Zahlung mit server_callback_url oder notify_url ihr
    Ergebnis hat.`,
  noDeliveryFound: "No callback matches | Kein passender Callback",
  noDeliveryFoundHint: `Widen the filters, or look at another time.
    | Erweitern Sie die Filter, oder wählen Sie einen anderen Zeitraum.`,
  deliveries: (count: number) => `${some(count, "callback", "callbacks")} on this page
    | ${some(count, "Callback", "Callbacks")} auf dieser Seite`,
  attempts: "Attempts | Zustellversuche",
  noAttempts: "Nothing was sent yet. | Noch wurde nichts gesendet.",
  signature: "Signature | Signatur",
  signatureResults: {
    current_key: `Valid. The checksum matches the merchant's key.
      | Gültig. Die Prüfsumme passt zum Schlüssel des Händlers.`,
    old_key: `Valid. The checksum matches the merchant's old key, which still counts. The receiver
      may compare it with the new one.
      | Gültig. Die Prüfsumme passt zum alten Schlüssel des Händlers, der noch gilt. Der Empfänger
      vergleicht womöglich mit dem neuen.`,
    other: `Not valid. The checksum matches no key that the merchant has now. The key was renewed
      after this attempt; send it again to sign it anew.
      | Nicht gültig. Die Prüfsumme passt zu keinem Schlüssel, den der Händler jetzt hat. Der
      Schlüssel wurde nach diesem Versuch erneuert; senden Sie noch einmal, um neu zu signieren.`,
    absent: `Nothing is kept of this attempt that could be checked.
      | Von diesem Versuch wurde nichts gespeichert, was sich prüfen ließe.`,
  },
  receiverComputes: `The receiver computes SHA-1 over these values, without separators, and compares
    it with control:
    | Der Empfänger berechnet SHA-1 über diese Werte, ohne Trennzeichen, und vergleicht mit
    control:`,
  webhookCovers: `webhook-signature is the HMAC-SHA256, with the endpoint's secret, of:
    | webhook-signature ist der HMAC-SHA256, mit dem Geheimnis des Endpunkts, über:`,
  theKey: "control key | Kontrollschlüssel",
  resend: "Send again | Erneut senden",
  resendMany: "Send again… | Erneut senden …",
  resendTitle: "Send callbacks again | Callbacks erneut senden",
  resendNeedsTime: `Choose a time first: callbacks of all times are not sent again at once.
    | Wählen Sie zuerst einen Zeitraum: Alle Callbacks auf einmal lassen sich nicht erneut senden.`,
  resendCount: (count: number) => `Send ${count} again | ${count} erneut senden`,
  resendNone: "No callback matches the filters. | Zu den Filtern passt kein Callback.",
  resendMore: `More callbacks match. The oldest are sent first; send the rest afterwards.
    | Es gibt weitere passende Callbacks. Die ältesten werden zuerst gesendet; senden Sie danach die
    übrigen.`,
  resendReceivers: "By receiver | Nach Empfänger",
  resendDone: (delivered: number, all: number) => `${delivered} of ${all} delivered
    | ${delivered} von ${all} zugestellt`,
  resendFailed: (count: number) => `${count} refused or unanswered; they are tried again
    | ${count} abgelehnt oder ohne Antwort; sie werden wiederholt`,
  progress: "Progress | Fortschritt",

  requests: "Requests | Anfragen",
  requestsHint: `Refused requests, masked. Accepted ones are
    | Abgelehnte Anfragen, maskiert. Angenommene stehen unter`,
  requestsAreOrders: "orders | Zahlungen",
  operation: "Operation | Operation",
  sentAt: "Sent | Gesendet",
  sentFrom: "From | Von",
  signed: "Signed | Signiert",
  unsigned: "Not signed | Nicht signiert",
  noRequests: "No refused requests | Keine abgelehnten Anfragen",
  noRequestsHint: `When the gateway refuses a request, it appears here with every fault that it has.
    | Lehnt das Gateway eine Anfrage ab, erscheint sie hier mit allen Fehlern, die sie hat.`,
  noRequestFound: "No refused request matches | Keine passende abgelehnte Anfrage",
  noRequestFoundHint: `A search needs a whole client order id or a whole serial number.
    | Geben Sie eine vollständige Bestellnummer des Händlers oder Seriennummer ein.`,
  searchRequests: "Client order id or serial number | Bestellnummer des Händlers oder Seriennummer",
  refusals: (count: number) => `${some(count, "request", "requests")} on this page
    | ${some(count, "Anfrage", "Anfragen")} auf dieser Seite`,
  droppedRequests: (count: number) => `${count} more were refused in the last seven days and not
    kept, because there were too many at a time.
    | ${count} weitere wurden in den letzten sieben Tagen abgelehnt und nicht gespeichert, weil es
    zu viele auf einmal waren.`,
  serialNumber: "Serial number | Seriennummer",
  faults: "Faults | Fehler",
  fieldsSent: "Fields | Felder",
  notKept: (length: number, isDigits: boolean) => `
    ${length} ${isDigits ? "digits" : "characters"}, not kept
    | ${length} ${isDigits ? "Ziffern" : "Zeichen"}, nicht gespeichert`,
  noFields: "The body could not be read. | Die Anfrage war nicht lesbar.",
  checksum: "Checksum | Prüfsumme",
  checksumMatches: "The checksum is right. | Die Prüfsumme stimmt.",
  checksumAbsent: `The request has no control: it was not signed.
    | Die Anfrage hat kein control: Sie wurde nicht signiert.`,
  checksumUnknown: `None of the usual mistakes explains this checksum. Most often the key is another
    one, or a value was changed after signing.
    | Keiner der üblichen Fehler erklärt diese Prüfsumme. Meist ist der Schlüssel ein anderer, oder
    ein Wert wurde nach dem Signieren geändert.`,
  checksumMistake: `This explains the checksum that was sent:
    | Das erklärt die gesendete Prüfsumme:`,
  checksumCovers: `SHA-1 over these values, without separators:
    | SHA-1 über diese Werte, ohne Trennzeichen:`,
  minorUnits: "in minor units | in kleinster Einheit",
  pathId: "id in the path | Nummer im Pfad",
  oauth: "OAuth | OAuth",
  oauthBase: `The signature is RSA-SHA256 over this text, in which values that are not kept are
    MASKED. Compare it with the text that you sign:
    | Die Signatur ist RSA-SHA256 über diesen Text, in dem nicht gespeicherte Werte MASKED heißen.
    Vergleichen Sie ihn mit dem Text, den Sie signieren:`,
  oauthCheck: "The check that failed: | Fehlgeschlagene Prüfung:",
  debugger: "Checksum debugger | Prüfsumme untersuchen",
  debuggerHint: `Paste the body of a request, or fill in the values that it signs. Card data and
    every field that the checksum does not cover stay in this browser.
    | Fügen Sie den Inhalt einer Anfrage ein, oder füllen Sie die signierten Werte aus. Kartendaten
    und alle Felder, die nicht signiert sind, bleiben in diesem Browser.`,
  debuggerRight: `Your role does not see control keys, so values cannot be tried here. Refused
    requests show their mistake.
    | Ihre Rolle sieht keine Kontrollschlüssel, daher lassen sich hier keine Werte probieren.
    Abgelehnte Anfragen zeigen ihren Fehler.`,
  pasteRequest: "Request | Anfrage",
  pasteRequestHint: `A form body such as client_orderid=…&amount=…&control=…, or one name=value per
    line
    | Ein Formular wie client_orderid=…&amount=…&control=…, oder ein name=wert je Zeile`,
  findMistake: "Find the mistake | Fehler suchen",
  mistakes: {
    amount_form: `The amount was signed in another form than minor units:
      | Der Betrag wurde in anderer Form als in kleinster Einheit signiert:`,
    other_id: `The id of another endpoint or group was signed:
      | Die Nummer eines anderen Endpunkts oder einer Gruppe wurde signiert:`,
    no_id: "The endpoint's id was not signed. | Die Nummer des Endpunkts wurde nicht signiert.",
    login_for_id: `The login was signed in the place of the endpoint's id.
      | Statt der Nummer des Endpunkts wurde der Login signiert.`,
    missing: "A value was not signed: | Ein Wert wurde nicht signiert:",
    order: `The values were signed in another order:
      | Die Werte wurden in anderer Reihenfolge signiert:`,
    extra: `A value was signed that the formula does not have:
      | Ein Wert wurde signiert, den die Formel nicht hat:`,
    untrimmed: `Values were signed with white space around them, which the gateway drops.
      | Werte wurden mit Leerzeichen davor oder danach signiert, die das Gateway entfernt.`,
    url_encoded: `Values were signed URL-encoded. Sign them as they are.
      | Werte wurden URL-kodiert signiert. Signieren Sie sie, wie sie sind.`,
    letter_case: `Values were signed in another letter case than they were sent.
      | Werte wurden in anderer Groß- oder Kleinschreibung signiert als gesendet.`,
    separator: `The values were joined with a separator:
      | Die Werte wurden mit einem Trennzeichen verbunden:`,
    line_end: `A space or a line end was signed too:
      | Ein Leerzeichen oder Zeilenende wurde mitsigniert:`,
    latin1: `The text was signed in another encoding than UTF-8.
      | Der Text wurde in anderer Kodierung als UTF-8 signiert.`,
    key_first: `The key was put first. It comes last.
      | Der Schlüssel stand vorn. Er kommt zuletzt.`,
    no_key: "The key was left out. | Der Schlüssel fehlte.",
    key_form: "The key was signed in another form: | Der Schlüssel wurde in anderer Form signiert:",
    key_as_control: `The key itself was sent. Renew it, because it may have been seen on its way.
      | Der Schlüssel selbst wurde gesendet. Erneuern Sie ihn, denn er könnte unterwegs gesehen
      worden sein.`,
    other_key: `A key was used that is not this merchant's.
      | Ein Schlüssel wurde benutzt, der nicht diesem Händler gehört.`,
    other_login: `The checksum is right, but the login is not that of the endpoint's merchant.
      | Die Prüfsumme stimmt, aber der Login ist nicht der des Händlers dieses Endpunkts.`,
    digest: "Another digest than SHA-1 was used: | Ein anderes Verfahren als SHA-1 wurde benutzt:",
    base64: `The digest was sent in base64. Send it as 40 hexadecimal digits.
      | Die Prüfsumme kam in base64. Senden Sie sie als 40 hexadezimale Ziffern.`,
    oauth_only: `The checksum is right, but this endpoint takes OAuth (v4) only.
      | Die Prüfsumme stimmt, aber dieser Endpunkt nimmt nur OAuth (v4).`,
  },
} satisfies Rows;
