/** Texts of the screens for payment links, merchants, gates, keys, screening and reconciliation. */
import { type Rows, some } from "./rows.ts";

export const configuration = {
  buttons: {
    "link create": "New link | Neuer Link",
    "link close": "End link | Link beenden",
    "terminal open": "Order by telephone | Bestellung am Telefon",
    "merchant create": "New merchant | Neuer Händler",
    "merchant set": "Change | Ändern",
    "merchant enable": "Switch on | Einschalten",
    "merchant disable": "Switch off | Ausschalten",
    "merchant control-key renew": "Renew | Erneuern",
    "merchant control-key set": "Set a given key | Schlüssel vorgeben",
    "merchant control-key drop": "Drop the old key | Alten Schlüssel verwerfen",
    "merchant show": "Show the key | Schlüssel zeigen",
    "merchant key add": "Add a key | Schlüssel hinzufügen",
    "merchant key remove": "Remove | Entfernen",
    "merchant report set": "Send it daily | Täglich senden",
    "endpoint create": "New endpoint | Neuer Endpunkt",
    "endpoint set": "Change | Ändern",
    "endpoint gates": "Change | Ändern",
    "endpoint callback add": "Add an address | Adresse hinzufügen",
    "endpoint callback remove": "Remove | Entfernen",
    "endpoint callback test": "Send a test callback | Test-Callback senden",
    "route add": "New rule | Neue Regel",
    "route set": "Change | Ändern",
    "route move": "Move | Verschieben",
    "route remove": "Remove | Entfernen",
    "callback secret": "Callback secret | Callback-Geheimnis",
    "group create": "New group | Neue Gruppe",
    "group set": "Change | Ändern",
    "wallet set": "Change | Ändern",
    "wallet key make": "New key | Neuer Schlüssel",
    "wallet key certify": "Add certificate | Zertifikat hinzufügen",
    "wallet key remove": "Remove | Entfernen",
    "wallet domain-file set": "Serve a file | Datei ausliefern",
    "wallet domain-file remove": "Remove | Entfernen",
    "gate create": "New gate | Neues Gate",
    "gate set": "Change | Ändern",
    "gate remove": "Remove | Entfernen",
    "gate mac-key set": "Add a key | Schlüssel hinzufügen",
    "gate mac-key drop": "Remove | Entfernen",
    "gate mac-key zone": "Set zone key | Zonenschlüssel setzen",
    "gate mac-key exchange": "Ask for the next key | Nächsten Schlüssel anfordern",
    "gate mac-key drop-zone": "Drop zone key | Zonenschlüssel verwerfen",
    "directory put": "Change | Ändern",
    "directory refresh": "Refresh | Aktualisieren",
    "directory remove": "Remove | Entfernen",
    "filter add": "New rule | Neue Regel",
    "filter change": "Change | Ändern",
    "filter enable": "Switch on | Einschalten",
    "filter disable": "Switch off | Ausschalten",
    "filter remove": "Remove | Entfernen",
    "list add": "New entry | Neuer Eintrag",
    "list import": "Import | Importieren",
    "list remove": "Remove | Entfernen",
    "key rotate": "Rotate keys | Schlüssel wechseln",
    "reconcile": "Compare a day | Tag abgleichen",
    "chargeback decide": "Decide | Entscheiden",
    "chargeback import": "Import a file | Datei importieren",
    "user add": "Add user | Benutzer hinzufügen",
    "user role": "Change role | Rolle ändern",
    "user password": "Temporary password | Vorläufiges Passwort",
    "user reset-factors": "Remove second factors | Zweite Faktoren entfernen",
    "user disable": "Disable | Sperren",
    "user enable": "Enable | Entsperren",
    "user demand-factor": `Demand a second factor of all users
      | Von allen Benutzern einen zweiten Faktor verlangen`,
  },
  /** Titles of windows that contain the name of a list's item. */
  titles: {
    "link close": (amount: string) => `End the payment link of ${amount}
      | Zahlungslink über ${amount} beenden`,
    "merchant enable": (login: string) => `Switch merchant ${login} on
      | Händler ${login} einschalten`,
    "merchant disable": (login: string) => `Switch merchant ${login} off
      | Händler ${login} ausschalten`,
    "merchant control-key drop": (login: string) => `Drop the old control key of ${login}
      | Alten Kontrollschlüssel von ${login} verwerfen`,
    "endpoint callback remove": (url: string) => `Remove the callback address ${url}
      | Callback-Adresse ${url} entfernen`,
    "endpoint callback test": (url: string) => `Send a test callback to ${url}
      | Test-Callback an ${url} senden`,
    "chargeback decide": (id: string) => `Decide about case ${id} | Über Fall ${id} entscheiden`,
    "merchant key remove": (id: string) => `Remove OAuth key ${id}
      | OAuth-Schlüssel ${id} entfernen`,
    "wallet key remove": (id: string) => `Remove wallet key ${id}
      | Wallet-Schlüssel ${id} entfernen`,
    "wallet domain-file remove": (name: string) => `Remove file ${name} | Datei ${name} entfernen`,
    "gate remove": (gate: string) => `Remove gate ${gate} | Gate ${gate} entfernen`,
    "gate mac-key drop": (key: string) => `Remove key ${key} | Schlüssel ${key} entfernen`,
    "gate mac-key drop-zone": (gate: string) => `Drop the zone key of gate ${gate}
      | Zonenschlüssel des Gates ${gate} verwerfen`,
    "directory remove": (name: string) => `Remove directory server ${name}
      | Directory-Server ${name} entfernen`,
    "filter change": (id: string) => `Change rule ${id} | Regel ${id} ändern`,
    "filter enable": (id: string) => `Switch rule ${id} on | Regel ${id} einschalten`,
    "filter disable": (id: string) => `Switch rule ${id} off | Regel ${id} ausschalten`,
    "filter remove": (id: string) => `Remove rule ${id} | Regel ${id} entfernen`,
    "route set": (rule: string) => `Change routing rule ${rule} | Routing-Regel ${rule} ändern`,
    "route move": (rule: string) => `Move routing rule ${rule}
      | Routing-Regel ${rule} verschieben`,
    "route remove": (rule: string) => `Remove routing rule ${rule}
      | Routing-Regel ${rule} entfernen`,
    "list remove": (value: string) => `Remove entry ${value} | Eintrag ${value} entfernen`,
  },
  sections: "Sections | Abschnitte",
  noLinks: "No payment links yet | Noch keine Zahlungslinks",
  noLinksHint: `Make one for an amount, send its address or print its QR code, and customers pay on
    the payment page.
    | Legen Sie einen Link für einen Betrag an, verschicken Sie die Adresse oder drucken Sie den
    QR-Code; bezahlt wird auf der Zahlungsseite.`,
  linkStates: {
    open: "Open | Offen",
    used: "Paid up | Ausgeschöpft",
    expired: "Expired | Abgelaufen",
    closed: "Ended | Beendet",
  },
  uses: "Uses | Nutzungen",
  anyNumber: "Any number | Beliebig oft",
  expires: "Expires | Läuft ab",
  linkQrCode: "QR code of the payment link | QR-Code des Zahlungslinks",
  downloadSvg: "Download as SVG | Als SVG laden",
  address: "Address | Adresse",
  openPaymentPage: "Open the payment page | Zahlungsseite öffnen",
  copyAddress: "Copy address | Adresse kopieren",
  allOfThem: "In the list of orders | In der Zahlungsliste",
  noOrdersOfLink: `No customer has begun to pay with this link yet.
    | Über diesen Link wurde noch keine Zahlung begonnen.`,

  searchMerchants: "Login or name | Login oder Name",
  noMerchants: "No merchants yet | Noch keine Händler",
  noMerchantsHint: `A merchant has endpoints, which take payments in one currency each. Begin with
    the merchant's login.
    | Ein Händler hat Endpunkte, die Zahlungen in je einer Währung annehmen. Beginnen Sie mit dem
    Login.`,
  noMerchantFound: "No merchant matches | Kein passender Händler",
  noMerchantFoundHint: "The search looks at logins and names. | Gesucht wird in Logins und Namen.",
  noCallbackUrls: `None: callbacks go only to the addresses that orders name.
    | Keine: Callbacks gehen nur an die Adressen, die Zahlungen nennen.`,
  testAnswer: (url: string) => `Answer from ${url}: | Antwort von ${url}:`,
  noEndpoints: `No endpoints: the merchant can take no payments yet.
    | Keine Endpunkte: Der Händler kann noch keine Zahlungen annehmen.`,
  groups: "Groups | Gruppen",
  noGroups: `No groups. A group chooses one of its endpoints by the currency of the request.
    | Keine Gruppen. Eine Gruppe wählt nach der Währung der Anfrage einen ihrer Endpunkte.`,
  id: "Id | Nummer",
  newDirectory: "New directory server | Neuer Directory-Server",
  removeNamed: (what: string) => `Remove ${what} | ${what} entfernen`,
  settings: "Settings | Einstellungen",
  allUsual: `Nothing is set: the usual values count.
    | Nichts ist eingestellt: Es gelten die Standardwerte.`,
  keys: "Keys | Schlüssel",
  controlKeyHint: `Requests are signed with it. After a renewal the old key counts too, until it is
    dropped.
    | Mit ihm werden Anfragen signiert. Nach einer Erneuerung gilt auch der alte, bis er verworfen
    wird.`,
  oldKeyHint: `Two keys count. Drop the old one when the merchant signs with the new one only.
    | Zwei Schlüssel gelten. Verwerfen Sie den alten, sobald der Händler nur noch mit dem neuen
    signiert.`,
  keySetAt: "In use since | In Gebrauch seit",
  atCreation: "the merchant was created | der Händler angelegt wurde",
  oldKeyUsed: "Old key last used | Alter Schlüssel zuletzt benutzt",
  never: "never | nie",
  oauthKeys: "OAuth keys | OAuth-Schlüssel",
  noOauthKeys: `None. Requests of version 4 need the merchant's RSA public key here.
    | Keine. Anfragen der Version 4 brauchen hier den öffentlichen RSA-Schlüssel des Händlers.`,
  size: "Size | Länge",
  wallets: "Wallets | Wallets",
  wallet: "Wallet | Wallet",
  walletKeys: "Wallet keys | Wallet-Schlüssel",
  noWalletKeys: `None. Wallets encrypt payment data for a key that is made here.
    | Keine. Wallets verschlüsseln Zahlungsdaten für einen Schlüssel, der hier erzeugt wird.`,
  certificate: "Certificate | Zertifikat",
  certificates: {
    present: "Present | Vorhanden",
    missing: "Missing | Fehlt",
    none: "Not needed | Nicht nötig",
  },
  rules: "Rules | Regeln",
  noRulesHere: "No rule counts for this merchant alone. | Keine Regel gilt nur für diesen Händler.",
  noRoutes: `None: the gates' ranks and weights decide.
    | Keine: Rang und Gewicht der Gates entscheiden.`,
  tryRoutes: "Try on past orders | An früheren Zahlungen testen",
  noRoutedOrders: "No orders in the last 30 days | Keine Zahlungen in den letzten 30 Tagen",
  movedFrom: "Would move from | Käme von",
  routing: "Which gate would a sale take? | Über welches Gate liefe eine Zahlung?",
  routingHint: `Enter an amount. The gateway decides as it does for orders, with the gates that are
    ready now.
    | Geben Sie einen Betrag ein. Das Gateway entscheidet wie bei Zahlungen, mit den Gates, die
    jetzt bereit sind.`,
  amountOfSale: "Amount of the sale | Betrag der Zahlung",
  tellRoute: "Tell | Zeigen",
  routeOutcomes: {
    cleared: "Authorised by | Autorisiert von",
    cleared_for_3ds: "3-D Secure, then | 3-D Secure, dann",
    filtered_out: "Filtered | Gefiltert",
    gate_unavailable: "No gate | Kein Gate",
  },
  rank: "Rank | Rang",
  weight: "Weight | Gewicht",
  rankOf: (gate: string) => `Rank of ${gate} | Rang von ${gate}`,
  weightOf: (gate: string) => `Weight of ${gate} | Gewicht von ${gate}`,
  addGate: "Add a gate | Gate hinzufügen",

  noGates: "No gates yet | Noch keine Gates",
  noGatesHint: `A gate is the connection to an acquirer. Endpoints send their payments through
    gates.
    | Ein Gate ist die Verbindung zu einem Acquirer. Endpunkte senden ihre Zahlungen über Gates.`,
  dialect: "Dialect | Dialekt",
  sandboxBank: "sandbox bank | Sandbox-Bank",
  everyCurrency: "All | Alle",
  unusedGate: "No endpoint uses this gate. | Kein Endpunkt nutzt dieses Gate.",
  macKeys: "Message authentication | Authentisierung der Nachrichten",
  noMacKeys: `No keys: messages have no authentication codes.
    | Keine Schlüssel: Nachrichten haben keine Authentisierungscodes.`,
  writes: "writes | schreibt",
  directories: "Directory servers of 3-D Secure | Directory-Server von 3-D Secure",
  noDirectories: "None: payments go without 3-D Secure. | Keine: Zahlungen laufen ohne 3-D Secure.",
  files: "Files | Dateien",
  good: "Good | In Ordnung",
  cardRanges: "Card ranges | Kartenbereiche",

  lists: "Lists | Listen",
  trial: "Trial | Probelauf",
  kindOfRule: "Kind of rule | Art der Regel",
  parameters: "Parameters | Parameter",
  countsFor: "Counts for | Gilt für",
  everywhere: "everywhere | überall",
  noRules: "No rules yet | Noch keine Regeln",
  noRulesHint: `A rule looks at every payment and blocks it, forces 3-D Secure, marks it, or lets it
    pass the others. Try it on past orders before you switch it on.
    | Eine Regel prüft jede Zahlung und sperrt sie, erzwingt 3-D Secure, markiert sie oder nimmt sie
    von den anderen Regeln aus. Testen Sie Regeln an früheren Zahlungen, bevor Sie sie
    einschalten.`,
  ruleKinds: {
    amount: "Amount | Betrag",
    velocity: "Velocity | Häufigkeit",
    cards: "Different cards | Verschiedene Karten",
    guesses: "Guesses of card numbers | Erratene Kartennummern",
    declines: "Declines | Ablehnungen",
    duplicate: "Duplicate | Doppelt",
    "first-seen": "First seen | Erstmals gesehen",
    countries: "Countries | Länder",
  },
  bothLists: "Both lists | Beide Listen",
  everyKind: "Every kind | Jede Art",
  noListEntries: "No entries | Keine Einträge",
  noListEntriesHint: `Put cards, email addresses, networks or countries on the allow or the block
    list. Cards are named by an order or a card-hash-id, never by their number.
    | Setzen Sie Karten, E-Mail-Adressen, IP-Netze oder Länder auf die Positiv- oder die Sperrliste.
    Karten werden über eine Zahlung oder eine Card-Hash-Id angegeben, nie über ihre Nummer.`,
  rulesToTry: `Numbers, like 3,7; empty: those that are on
    | Nummern wie 3,7; leer: die eingeschalteten`,
  tryRules: "Try | Testen",
  trialHint: `Tells what the rules would have done to the orders of the last 30 days, and what
    became of those. It changes nothing; with many orders it takes a while.
    | Zeigt, was die Regeln mit den Zahlungen der letzten 30 Tage gemacht hätten und was aus diesen
    geworden ist. Der Test ändert nichts; bei vielen Zahlungen dauert er eine Weile.`,
  result: "Result | Ergebnis",
  paid: "Paid | Bezahlt",
  wouldHave: {
    all: "Looked at | Geprüft",
    blocked: "Blocked | Gesperrt",
    forced: "Sent to 3-D Secure | Über 3-D Secure geleitet",
    marked: "Only marked | Nur markiert",
  },

  vaultKeys: "Vault keys | Tresorschlüssel",
  vaultKeysHint: `They seal card numbers and secrets. A rotation seals everything anew while
    payments go on, waits until every node has the new keys, and destroys the old ones; the audit
    says when it has ended.
    | Sie verschlüsseln Kartennummern und geheime Einstellungen. Ein Wechsel verschlüsselt alles
    neu, während Zahlungen weiterlaufen, wartet, bis jeder Knoten die neuen Schlüssel hat, und
    vernichtet die alten; im Protokoll steht, wann er abgeschlossen ist.`,
  purpose: "For | Für",
  keyPurposes: {
    cards: "Card numbers | Kartennummern",
    fingerprints: "Card fingerprints | Fingerabdrücke von Karten",
    digests: "Digests of requests | Prüfsummen von Anfragen",
    secrets: "Secrets of settings | Geheime Einstellungen",
    held: "Cards during 3-D Secure | Karten während 3-D Secure",
    webhooks: "Callback secrets | Callback-Geheimnisse",
    screening: "Counts of screening | Zähler der Risikoprüfung",
    receipts: "Receipts | Belege",
    links: "Payment links | Zahlungslinks",
  },
  inUse: "In use | In Gebrauch",
  retired: "Retired | Abgelöst",
  destroyed: "Destroyed | Vernichtet",
  cards: "Cards | Karten",
  domainFiles: "Domain files | Domain-Dateien",
  domainFilesHint: `A wallet checks by a file below /.well-known/ that the domain of the payment
    page is yours.
    | Anhand einer Datei unter /.well-known/ prüft ein Wallet, dass die Domain der Zahlungsseite
    Ihnen gehört.`,

  days: "Compared days | Abgeglichene Tage",
  chargebacks: "Chargebacks | Rückbelastungen",
  noChargebacks: "No chargebacks | Keine Rückbelastungen",
  noChargebacksHint: `Import the acquirer's file: each chargeback is recorded on its order, and the
    merchant is told where its endpoint says so.
    | Importieren Sie die Datei des Acquirers: Jede Rückbelastung wird bei ihrer Zahlung vermerkt,
    und der Händler wird benachrichtigt, wenn sein Endpunkt so eingestellt ist.`,
  unrecorded: (count: number) => `
    ${some(count, "line of the file was", "lines of the file were")} not recorded:
    | ${some(count, "Zeile der Datei wurde", "Zeilen der Datei wurden")} nicht erfasst:`,
  unrecordedLine: (line: string, id: string) => `line ${line}, case ${id}:
    | Zeile ${line}, Fall ${id}:`,
  importResults: {
    "no such order": "no order has this reference | keine Zahlung hat diese Referenz",
    "recorded before with another amount": `recorded before with another amount
      | früher mit einem anderen Betrag erfasst`,
  },
  disputes: "Chargebacks | Rückbelastungen",
  answerDue: "Answer by | Antwort bis",
  evidence: "Earlier undisputed payments of the card | Frühere unbestrittene Zahlungen der Karte",
  evidenceHint: `Approved 120 to 365 days before the dispute, with facts in common. Visa takes two
    that share the IP address and one more fact (compelling evidence 3.0).
    | 120 bis 365 Tage vor der Rückbelastung genehmigt, mit gemeinsamen Angaben. Visa genügen zwei,
    die die IP-Adresse und eine weitere Angabe teilen (Compelling Evidence 3.0).`,
  noEvidence: "None was found. | Keine gefunden.",
  inCommon: "In common | Gemeinsam",
  sharedFacts: {
    ip: "IP address | IP-Adresse",
    email: "Email | E-Mail",
    phone: "Phone | Telefon",
    address: "Address | Adresse",
  },
  case: "Case | Fall",
  recorded: "At | Am",
  chargebackStages: {
    retrieval: "Retrieval | Beleganforderung",
    first: "First | Erste",
    representment: "Representment | Widerspruch",
    "pre-arbitration": "Pre-arbitration | Vor dem Schiedsverfahren",
    arbitration: "Arbitration | Schiedsverfahren",
    reversed: "Reversed | Zurückgenommen",
    fraud: "Fraud report | Betrugsmeldung",
  },
  noDays: "No day was compared yet | Noch kein Tag abgeglichen",
  noDaysHint: `Compare a gate's day with the acquirer's settlement file, or by its totals with the
    acquirer's host. What differs stays here and in the orders.
    | Gleichen Sie den Tag eines Gates mit der Abrechnungsdatei des Acquirers ab oder mit den Summen
    seines Hosts. Abweichungen stehen dann hier und bei den Zahlungen.`,
  day: "Day | Tag",
  way: "Compared with | Abgeglichen mit",
  ways: {
    file: "settlement file | Abrechnungsdatei",
    totals: "totals of the host | Summen des Hosts",
  },
  matched: "Matched | Übereinstimmend",
  compared: "Compared | Abgeglichen",
  differences: (count: number) => `${some(count, "difference", "differences")}
    | ${some(count, "Abweichung", "Abweichungen")}`,
  allDifferences: "Differences | Abweichungen",
  noDifferences: "Both sides agree. | Beide Seiten stimmen überein.",
  difference: "Difference | Abweichung",
  there: "Acquirer | Acquirer",
  differenceKinds: {
    "missing here": "Missing here | Fehlt hier",
    "missing there": "Missing at the acquirer | Fehlt beim Acquirer",
    "different amount": "Other amount | Anderer Betrag",
    "different currency": "Other currency | Andere Währung",
    duplicate: "Twice | Doppelt",
    "other day": "On another day | An einem anderen Tag",
  },

  preview: "Preview | Vorschau",
  back: "Back | Zurück",
  noPreview: `What it does is known when it is done: there is no preview.
    | Die Wirkung ist erst nach der Ausführung bekannt: Eine Vorschau gibt es nicht.`,
  moreSettings: (count: number) => `${count} more settings | ${count} weitere Einstellungen`,
  onePerLine: "One in each line | Ein Wert je Zeile",
  fileContent: "Or its content | Oder ihr Inhalt",
  documentation: "Documentation | Dokumentation",
  nothingMatches: "Nothing matches | Keine Treffer",
  copyNow: `Copy it now, and keep it in a safe place: this window does not show it again.
    | Kopieren Sie den Wert jetzt und bewahren Sie ihn sicher auf: Er wird nicht noch einmal
    angezeigt.`,
  kept: "I have kept it | Ich habe ihn aufbewahrt",
} satisfies Rows;
