/** Texts of the menu and the frame, of signing in, of the order list and of the home screen. */
import { type Rows, some } from "./rows.ts";

export const frame = {
  "transaction-report": "Transaction report | Transaktionsbericht",
  reportHint: `A line for each sale, capture, refund, void and stage of a dispute that began in the
    chosen days, 31 at most. Without days, the file has the last 31.
    | Eine Zeile für jeden Verkauf, Einzug, jede Erstattung, Rücknahme und Stufe einer
    Rückbelastung der gewählten Tage, höchstens 31. Ohne Auswahl enthält die Datei die letzten 31.`,
  reportColumnsHint: `The columns are those of the merchant interface. One report of a merchant is
    written at a time: if the download fails, try again in a minute.
    | Die Spalten sind die der Händlerschnittstelle. Je Händler wird nur ein Bericht gleichzeitig
    geschrieben: Bricht der Download ab, versuchen Sie es in einer Minute erneut.`,
  dailyReports: "Sent daily | Täglicher Versand",
  dailyReportsHint: `After the end of each day of the gateway, the day's file is sent to the
    merchant's address, signed like callbacks, and again until the address accepts it.
    | Nach dem Ende jedes Tages des Gateways geht die Datei des Tages signiert wie Callbacks an die
    Adresse des Händlers, und erneut, bis die Adresse sie annimmt.`,
  latestAttempt: "Latest attempt | Letzter Versuch",
  noDailyReports: "No report was due yet. | Noch kein Bericht fällig.",
  reportNeedsMerchant: "Choose a merchant first. | Wählen Sie zuerst einen Händler.",
  statement: "Statement | Abrechnung",
  statementHint: `The money that has moved on each day in the time zone of the gateway, 31 days
    unless you choose others. A chargeback counts on the acquirer's date.
    | Das Geld, das an jedem Tag in der Zeitzone des Gateways geflossen ist; ohne Auswahl 31 Tage.
    Eine Rückbelastung zählt am Datum des Acquirers.`,
  balance: "Balance | Saldo",
  balanceHint: `What the merchant is owed: all movements, less booked settlements. Only operators
    see it here.
    | Was dem Händler zusteht: alle Bewegungen abzüglich gebuchter Zahlungen an ihn. Nur Betreiber
    sehen es hier.`,
  payoutsInFlight: "Payouts in flight | Laufende Auszahlungen",
  noMovements: "No money moved on these days. | An diesen Tagen ist kein Geld geflossen.",
  gross: "Gross | Brutto",
  fees: "Fees | Gebühren",
  returns: "Returns | Rückgaben",
  payouts: "Payouts | Auszahlungen",
  net: "Net | Netto",
  "payment-links": "Payment links | Zahlungslinks",
  merchants: "Merchants | Händler",
  gates: "Gates | Gates",
  screening: "Screening | Risikoprüfung",
  reconciliation: "Reconciliation | Abgleich",
  "vault-keys": "Keys | Schlüssel",
  skipToContent: "Skip to content | Zum Inhalt",
  menu: "Menu | Menü",
  orders: "Orders | Zahlungen",
  staging: "Staging | Testbetrieb",
  production: "Production | Produktion",
  rehearsal: "Rehearsal: no money moves | Probebetrieb: es fließt kein Geld",
  otherLanguage: "Deutsch | English",
  light: "Light | Hell",
  dark: "Dark | Dunkel",
  asSystem: "As the system | Wie im System",
  signOut: "Sign out | Abmelden",
  operator: "Operator | Betreiber",
  account: "Account | Konto",
  tryAgain: "Try again | Erneut versuchen",
  close: "Close | Schließen",
  cancel: "Cancel | Abbrechen",
  noSuchPage: "There is no such page | Diese Seite gibt es nicht",
  noSuchPageHint: `The address may be mistyped. The orders are a good place to begin.
    | Vielleicht ist die Adresse falsch geschrieben. Beginnen Sie am besten bei den Zahlungen.`,
  toOrders: "Go to orders | Zu den Zahlungen",
  notAllowed: "Not allowed | Nicht erlaubt",
  notAllowedHint: `Your role does not see this page. Ask an administrator if you need it.
    | Ihre Rolle hat keinen Zugriff auf diese Seite. Wenden Sie sich bei Bedarf an einen
    Administrator.`,
  failed: "This could not be loaded | Die Seite konnte nicht geladen werden",
  unreachable: `The gateway cannot be reached. Check your connection; the portal tries again when
    you ask it to.
    | Das Gateway ist nicht erreichbar. Prüfen Sie Ihre Verbindung und versuchen Sie es dann
    erneut.`,

  signIn: "Sign in | Anmelden",
  signInHint: "To the portal of your payment gateway | Am Portal Ihres Zahlungs-Gateways",
  login: "Login | Benutzername",
  password: "Password | Passwort",
  confirm: "Confirm | Bestätigen",
  secondFactor: "Second factor | Zweiter Faktor",
  secondFactorHint: `Enter the six digits that your authenticator app shows, or one of your recovery
    codes.
    | Geben Sie die sechs Ziffern Ihrer Authenticator-App oder einen Ihrer Wiederherstellungscodes
    ein.`,
  code: "Code | Code",
  showPassword: "Show password | Passwort anzeigen",
  newPassword: "Choose a new password | Neues Passwort wählen",
  newPasswordHint: `The one you have is temporary. The new one needs at least 12 characters, with
    letters and digits.
    | Ihr bisheriges ist nur vorläufig. Das neue braucht mindestens 12 Zeichen mit Buchstaben und
    Ziffern.`,
  currentPassword: "Current password | Aktuelles Passwort",
  nextPassword: "New password | Neues Passwort",
  savePassword: "Save password | Passwort speichern",
  enrolment: "Set up a second factor | Zweiten Faktor einrichten",
  enrolmentHint: `Your role moves money or sees settings, so a password alone is not enough. Add
    this secret to your authenticator app, then enter the code that it shows.
    | Ihre Rolle darf Geld bewegen oder Einstellungen sehen, deshalb genügt ein Passwort nicht.
    Fügen Sie diesen Schlüssel Ihrer Authenticator-App hinzu und geben Sie dann den Code ein, den
    sie anzeigt.`,
  beginEnrolment: "Show the secret | Schlüssel anzeigen",
  recoveryCodes: "Recovery codes | Wiederherstellungscodes",
  recoveryCodesHint: `Each of them replaces the app once. They are shown only now: keep them in a
    safe place.
    | Jeder ersetzt die App einmal. Sie werden nur jetzt angezeigt: Bewahren Sie sie sicher auf.`,
  codesKept: "I have kept them | Ich habe sie aufbewahrt",

  searchOrders: `Name, email or a part of it, order id, last four digits, amount or RRN
    | Name, E-Mail oder ein Teil davon, Zahlungsnummer, letzte vier Ziffern, Betrag oder RRN`,
  searchKinds: {
    name: "a name | Name",
    email: "an email address or a part of it | E-Mail-Adresse oder Teil davon",
    lastFour: "the last four digits of a card | letzte vier Ziffern einer Karte",
    amount: "an amount | Betrag",
    order: "an order id | Zahlungsnummer",
    reference: "an RRN | RRN",
  },
  searchedBy: (search: string, kinds: string) => `Orders with “${search}” as ${kinds}
    | Zahlungen mit „${search}“ als ${kinds}`,
  clearSearch: "Clear search | Suche leeren",
  clearFilters: "Clear filters | Filter entfernen",
  status: "Status | Status",
  type: "Type | Art",
  stage: "Stage | Phase",
  endpoint: "Endpoint | Endpunkt",
  gate: "Gate | Gate",
  currency: "Currency | Währung",
  network: "Card network | Kartennetz",
  outcome: "First result | Erstes Ergebnis",
  threeds: "3-D Secure | 3-D Secure",
  merchant: "Merchant | Händler",
  date: "Date | Datum",
  from: "From | Von",
  today: "Today | Heute",
  sevenDays: "Last 7 days | Letzte 7 Tage",
  thirtyDays: "Last 30 days | Letzte 30 Tage",
  amount: "Amount | Betrag",
  order: "Order | Zahlung",
  customer: "Customer | Kunde",
  card: "Card | Karte",
  accepted: "Accepted | Angenommen",
  reference: "RRN | RRN",
  reason: "Reason | Grund",
  live: "Live | Live",
  liveHint: "New orders appear by themselves | Neue Zahlungen erscheinen von selbst",
  searchedTo: (date: string) => `Looked through back to ${date}. “Older” goes on from there.
    | Durchsucht bis zurück zum ${date}. „Ältere“ sucht von dort weiter.`,
  older: "Older | Ältere",
  nextPage: "Next page | Nächste Seite",
  firstPage: "First page | Erste Seite",
  newest: "Newest | Neueste",
  rows: (count: number) => `${some(count, "order", "orders")} on this page
    | ${some(count, "Zahlung", "Zahlungen")} auf dieser Seite`,
  exportCsv: "Export CSV | CSV exportieren",
  exporting: (count: number) => `${count} rows … | ${count} Zeilen …`,
  exportTooLong: (max: number) => `The file has the first ${max} orders. Narrow the filters for the
    rest.
    | Die Datei enthält die ersten ${max} Zahlungen. Schränken Sie die Filter ein, um die übrigen zu
    exportieren.`,
  exportFailed: `The export stopped. Try again.
    | Der Export wurde abgebrochen. Versuchen Sie es erneut.`,
  noOrders: "No orders yet | Noch keine Zahlungen",
  noOrdersHint: `An order appears here as soon as a merchant sends a sale. The start of the gateway
    prints one that you can paste.
    | Eine Zahlung erscheint hier, sobald ein Händler sie sendet. Beim Start gibt das Gateway einen
    Befehl dafür aus.`,
  nothingFound: "No order matches | Keine passende Zahlung",
  nothingFoundHint: `A name is found by the beginnings of its words, an email address by its
    beginning, its host or a word in it. Order ids, the last four digits of a card, amounts such as
    10.42 and RRNs need the whole value.
    | Bei Namen genügt der Anfang eines Wortes, bei E-Mail-Adressen der Anfang, der Host oder ein
    Wort darin. Zahlungsnummern, die letzten vier Ziffern einer Karte, Beträge wie 10.42 und RRNs
    müssen vollständig sein.`,
  saveView: "Save view | Ansicht speichern",
  nameOfView: "Name of the view | Name der Ansicht",
  shareView: "Share with the team | Mit dem Team teilen",
  shareViewHint: `Filters alone: a view with a search stays in this browser.
    | Nur Filter: Eine Ansicht mit einer Suche bleibt in diesem Browser.`,
  sharedBy: (login: string) => `Shared by ${login} | Geteilt von ${login}`,
  unshareView: (name: string) => `Remove the view ${name} for the whole team
    | Ansicht ${name} für das ganze Team entfernen`,
  removeView: (name: string) => `Remove the view ${name} | Ansicht ${name} entfernen`,
  views: "Views | Ansichten",
  allOrders: "All | Alle",

  home: "Home | Übersicht",
  range: "Range | Zeitraum",
  ranges: {
    hour: "Hour | Stunde",
    day: "Day | Tag",
    week: "Week | Woche",
    month: "Month | Monat",
    year: "Year | Jahr",
  },
  approvalRate: "Approval rate | Genehmigungsquote",
  netAmount: "Net amount | Nettobetrag",
  overhead: "Overhead, p95 | Eigenzeit, p95",
  failingCallbacks: "Failing callbacks | Fehlgeschlagene Callbacks",
  ordersOverTime: "Orders over time | Zahlungen im Zeitraum",
  declinesByReason: "Declines by reason | Ablehnungen nach Grund",
  noDeclines: "Nothing was declined in this time. | In dieser Zeit wurde nichts abgelehnt.",
  threedsResults: "3-D Secure results | Ergebnisse von 3-D Secure",
  noThreeds: `No order went through 3-D Secure in this time.
    | In dieser Zeit lief keine Zahlung über 3-D Secure.`,
  approvalsBy: "Approval rates | Genehmigungsquoten",
  noRates: "No order has ended in this time. | In dieser Zeit hat keine Zahlung geendet.",
  countedBy: "By | Nach",
  value: "Value | Wert",
  sinceLastWeek: "Change on last week, points | Gegenüber der Vorwoche, Punkte",
  ratesBy: {
    gate: "Gate | Gate",
    network: "Network | Kartennetz",
    country: "Issuer's country | Land des Herausgebers",
    band: "Amount | Betrag",
  },
  health: "Health | Gesundheit",
  healthStates: {
    healthy: "Healthy | Gesund",
    weakened: "Weakened | Geschwächt",
    unhealthy: "Unhealthy | Ungesund",
    off: "Not judged | Nicht bewertet",
  },
  approvedOf: (share: string, count: number) =>
    `${share} of ${count} approved | ${share} von ${count} genehmigt`,
  refused: "Refused | Abgelehnt",
  most: (count: number) => `at most ${count} at a time | höchstens ${count} zugleich`,
  now: "now | jetzt",
  links: "Links to acquirers | Verbindungen zu Acquirern",
  timeline: "Timeline | Verlauf",
  callbacks: "Callbacks | Callbacks",
  noCallbacks: `None was made: the endpoint has no callback address, or the order has not ended.
    | Keine: Der Endpunkt hat keine Callback-Adresse, oder die Zahlung ist noch nicht beendet.`,
  callbackStates: {
    due: "Due | Fällig",
    failing: "Failing | Fehlgeschlagen",
    delivered: "Delivered | Zugestellt",
    stopped: "Stopped | Angehalten",
    given_up: "Given up | Aufgegeben",
  },
  body: "Body | Inhalt",
  answer: "Answer | Antwort",
  totals: "Totals | Summen",
  held: "Held | Vorgemerkt",
  charged: "Charged | Belastet",
  returned: "Returned | Erstattet",
  chargedBack: "Charged back | Rückbelastet",
  left: "Left to return | Noch erstattbar",
  sent: "What the merchant sent | Was der Händler gesendet hat",
  seen: "What the merchant sees | Was der Händler sieht",
  seenHint: `The response to a status request now. Each response has a serial number of its own.
    | Die aktuelle Antwort auf eine Statusabfrage. Jede Antwort hat eine eigene Seriennummer.`,
  clientOrder: "Merchant's order | Bestellung des Händlers",
  receipt: "Receipt | Beleg",
  actions: {
    capture: "Capture | Einziehen",
    return: "Refund | Erstatten",
    void: "Void | Zurücknehmen",
    resend: "Resend callbacks | Callbacks erneut senden",
  },
  reasonHint: "It is kept in the audit. | Er wird im Protokoll festgehalten.",

  types: {
    sale: "Sale | Verkauf",
    preauth: "Preauthorisation | Vorautorisierung",
    "account-verification": "Account verification | Kartenprüfung",
    payout: "Payout | Auszahlung",
    capture: "Capture | Einzug",
    reversal: "Refund | Erstattung",
    refund: "Refund | Erstattung",
    cancel: "Cancellation | Storno",
    void: "Void | Rücknahme",
  },
} satisfies Rows;
